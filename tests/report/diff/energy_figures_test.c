/* energy_figures: the metrics of energy samples whose values are known, and lowered clocks of two sets. */
#include "report/diff/energy_figures.h"

#include <math.h>
#include <string.h>

#include "report/diff/compare.h"
#include "run_builder.h"
#include "tests/report/model_builder.h"
#include "tests/unit.h"

#define S 1000000000ull

static void add(struct build *b, uint16_t device_id, uint64_t second, uint64_t joules,
		uint32_t reasons)
{
	uint32_t at = BUILD_GROW(b, energies, energy_count);

	b->model->energies[at] = (struct gp_energy){.time_ns = second * S,
						    .energy_mj = 1000 * joules,
						    .reasons = reasons,
						    .device_id = device_id};
}

/* GPU 0: 100, 300 and 600 J in three seconds, the second with lowered clocks.  GPU 1: 40 J. */
static struct gp_model *two_gpus(void)
{
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	build_device(&b, 1, "GPU");
	add(&b, 0, 1, 5000, 0);
	add(&b, 0, 2, 5100, 0x4);
	add(&b, 0, 3, 5400, 0);
	add(&b, 0, 4, 6000, 0);
	add(&b, 1, 1, 10, 0);
	add(&b, 1, 2, 50, 0);
	return build_end(&b);
}

/* The steps are the three seconds; owners and busy: of both GPUs. */
static void figures_of(struct gp_figures *figures, struct gp_model *model, size_t *owners,
		       const struct gp_busy *busy)
{
	struct gp_iteration rows[] = {
		{.start_ns = 1 * S, .end_ns = 2 * S},
		{.start_ns = 2 * S, .end_ns = 3 * S},
		{.start_ns = 3 * S, .end_ns = 4 * S},
	};
	uint8_t parts[] = {GP_RUN_STEADY, GP_RUN_STEADY, GP_RUN_STEADY};
	struct gp_iterations iterations = {.rows = rows, .count = 3};
	struct gp_steps steps = {.count = 3, .parts = parts};
	const struct gp_analysis basis = {
		.model_count = 1, .iterations = &iterations, .steps = &steps, .owners = owners};
	struct gp_device_list devices = {0};

	assert_int_equal(gp_device_list_all(&devices, &model, 1), 0);
	gp_energy_figures(figures, &model, 1, &devices, &basis, busy);
	gp_device_list_free(&devices);
}

static void a_step_has_the_energy_of_the_gpus_it_uses(void **state)
{
	const struct gp_busy busy[] = {{.operations = 5}, {.operations = 0}};
	size_t owners[] = {0, SIZE_MAX};
	struct gp_figures figures = {0};
	struct gp_model *model = two_gpus();

	figures_of(&figures, model, owners, busy);
	assert_float_equal(figures.values[GP_METRIC_ENERGY], 1040, 1e-9);
	assert_float_equal(figures.values[GP_METRIC_STEP_ENERGY], 1000 / 3.0, 1e-9);
	/* a second at 1000 / 3 W, in three steps */
	assert_float_equal(figures.values[GP_METRIC_STEP_ENERGY_ERROR], 1000 / 9.0, 1e-9);
	/* one second of four */
	assert_float_equal(figures.values[GP_METRIC_CLOCKS_LOWERED], 25, 1e-9);
	gp_model_free(model);
}

static void of_a_gpu_that_several_use_the_step_is_unknown(void **state)
{
	const struct gp_busy busy[] = {{.operations = 5}, {.operations = 5}};
	size_t owners[] = {0, SIZE_MAX};
	struct gp_figures figures = {0};
	struct gp_model *model = two_gpus();

	figures_of(&figures, model, owners, busy);
	assert_float_equal(figures.values[GP_METRIC_ENERGY], 1040, 1e-9);
	assert_true(isnan(figures.values[GP_METRIC_STEP_ENERGY]));
	assert_true(isnan(figures.values[GP_METRIC_STEP_ENERGY_ERROR]));
	gp_model_free(model);
}

static void without_samples_all_are_unknown(void **state)
{
	const struct gp_busy busy[] = {{.operations = 5}, {.operations = 5}};
	size_t owners[] = {0, 0};
	struct gp_figures figures = {0};
	struct gp_model *model = two_gpus();

	model->energy_count = 0;
	figures_of(&figures, model, owners, busy);
	assert_true(isnan(figures.values[GP_METRIC_ENERGY]));
	assert_true(isnan(figures.values[GP_METRIC_STEP_ENERGY]));
	assert_true(isnan(figures.values[GP_METRIC_CLOCKS_LOWERED]));
	gp_model_free(model);
}

/* ---- lowered clocks ---- */

static void keep_line(void *context, const char *line)
{
	if (strstr(line, "clocks lowered"))
		snprintf(context, 256, "%s", line);
}

static bool differ(double a_percent, double b_percent)
{
	struct gp_run_set a = runs_make(3, 1), b = runs_make(1, 1);
	struct gp_lowered_clocks clocks;
	char line[256] = "";

	runs_set(&a, GP_METRIC_CLOCKS_LOWERED, a_percent);
	runs_set(&b, GP_METRIC_CLOCKS_LOWERED, b_percent);
	a.runs[1].figures.values[GP_METRIC_CLOCKS_LOWERED] += 90; /* one run of three */
	gp_lowered_clocks_of(&a, &b, &clocks);
	gp_compare_doubts(&a, &b, keep_line, line);
	assert_int_equal(*line != '\0', clocks.differ);
	if (clocks.differ)
		assert_non_null(strstr(line, "A: 2.0 % of the time; B: 53.0 %"));
	gp_run_set_free(&a);
	gp_run_set_free(&b);
	return clocks.differ;
}

static void lowered_clocks_of_one_side_are_a_doubt(void **state)
{
	assert_true(differ(2, 53));
	assert_false(differ(2, 2 + GP_CLOCKS_DIFFER_PERCENT - 0.1));
	assert_false(differ(2, (double)NAN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_has_the_energy_of_the_gpus_it_uses),
		cmocka_unit_test(of_a_gpu_that_several_use_the_step_is_unknown),
		cmocka_unit_test(without_samples_all_are_unknown),
		cmocka_unit_test(lowered_clocks_of_one_side_are_a_doubt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
