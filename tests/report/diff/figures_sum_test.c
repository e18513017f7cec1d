/* figures_sum: the figures of processes, added one by one, are those of all of them together. */
#include "tests/unit.h"

#include <math.h>
#include <stdio.h>

#include "report/diff/figures_sum.h"
#include "tests/report/model_builder.h"

#define RANKS 3u

/* Each starts 1,000 ns later than the one before it, and its kernels take longer by 10 ns. */
static struct gp_model *rank_of(uint32_t rank)
{
	struct build b = build_begin(rank + 1);
	uint32_t work = build_name(&b, "work"), reduce = build_name(&b, "ncclAllReduce");
	uint64_t start_ns = 1000 * rank;
	char text[8];

	build_device(&b, 0, "GPU");
	b.model->devices[0].uuid[0] = (uint8_t)(rank + 1);
	snprintf(text, sizeof(text), "%u", rank);
	build_info(&b, GP_INFO_RANK, text);
	build_info(&b, GP_INFO_WORLD_SIZE, "3");
	for (uint32_t i = 0; i < 5; i++) {
		uint64_t ns = start_ns + 10000 * i;

		build_call(&b, 100, BUILD_LAUNCH, ns, 50, 2 * i + 1);
		build_call(&b, 100, BUILD_LAUNCH, ns + 100, 50, 2 * i + 2);
		build_op(&b, GP_OP_KERNEL, 7, ns + 200, ns + 500 + 10 * rank, 2 * i + 1)->name =
			work;
		build_op(&b, GP_OP_KERNEL, 7, ns + 600, ns + 900, 2 * i + 2)->name = reduce;
	}
	build_call(&b, 100, BUILD_DEVICE_SYNC, start_ns + 50000, 300, 0);
	if (rank == 1)
		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 50, 0x1000, 4096);
	return build_end(&b);
}

static void make(struct gp_figures *together, struct gp_figures *summed)
{
	struct gp_figures_sum sum = {0};
	struct gp_model *models[RANKS];

	for (uint32_t i = 0; i < RANKS; i++) {
		struct gp_figures one;

		models[i] = rank_of(i);
		assert_int_equal(gp_figures_of_process(models[i], &one), 0);
		assert_int_equal(gp_figures_sum_add(&sum, &one), 0);
		gp_figures_free(&one);
	}
	assert_int_equal(gp_figures_of(models, RANKS, together), 0);
	assert_int_equal(gp_figures_sum_end(&sum, summed), 0);
	gp_figures_sum_free(&sum);
	for (uint32_t i = 0; i < RANKS; i++)
		gp_model_free(models[i]);
}

static void metrics_are_those_of_all_together(void **state)
{
	struct gp_figures together, summed;

	(void)state;
	make(&together, &summed);
	for (int i = 0; i < GP_METRICS; i++)
		if (!isnan(together.values[i]) || !isnan(summed.values[i]))
			assert_float_equal(together.values[i], summed.values[i], 0);
	assert_float_equal(summed.values[GP_METRIC_WALL], 52300, 0);
	assert_true(summed.values[GP_METRIC_IDLE_UNUSED] > 0);
	assert_int_equal(together.step_count, summed.step_count);
	gp_figures_free(&together);
	gp_figures_free(&summed);
}

static void rows_are_those_of_all_together_but_for_medians_of_medians(void **state)
{
	struct gp_figures together, summed;
	const struct gp_named_figure *work;

	(void)state;
	make(&together, &summed);
	for (int kind = 0; kind < GP_NAMED_KINDS; kind++) {
		const struct gp_named_list *list = &summed.named[kind];

		assert_int_equal(list->count, together.named[kind].count);
		for (uint32_t i = 0; i < list->count; i++) {
			const struct gp_named_figure *row = &together.named[kind].rows[i];

			assert_string_equal(list->rows[i].name, row->name);
			assert_float_equal(list->rows[i].count, row->count, 0);
			assert_float_equal(list->rows[i].total_ns, row->total_ns, 0);
		}
	}
	assert_int_equal(summed.named[GP_NAMED_RANK].count, RANKS);
	work = gp_named_find(&summed.named[GP_NAMED_KERNEL], "work");
	assert_non_null(work);
	assert_float_equal(work->median_ns, 310, 0);
	gp_figures_free(&together);
	gp_figures_free(&summed);
}

static void without_processes_there_are_no_rows(void **state)
{
	struct gp_figures_sum sum = {0};
	struct gp_figures figures;

	(void)state;
	assert_int_equal(gp_figures_sum_end(&sum, &figures), 0);
	assert_int_equal(figures.named[GP_NAMED_KERNEL].count, 0);
	gp_figures_free(&figures);
	gp_figures_sum_free(&sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_are_those_of_all_together),
		cmocka_unit_test(rows_are_those_of_all_together_but_for_medians_of_medians),
		cmocka_unit_test(without_processes_there_are_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
