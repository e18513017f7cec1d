#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/tables/breakdown.h"
#include "tests/report/model_builder.h"

#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

enum { COUNT, LAST, HELD_UP, WAITED, TOTAL, DEVICE, RANK, COMMUNICATOR };

static size_t rank_at(const struct gp_value *row)
{
	return (size_t)(row[RANK].text[0] - '0');
}

/* A rank whose kernels of that name take that long; the n-th end at the same time on all ranks. */
static struct gp_model *rank_with(const char *kernel, uint32_t pid, const char *rank,
				  const uint64_t *durations_ns, size_t count)
{
	struct build b = build_begin(pid);
	uint32_t name = build_name(&b, kernel), gemm = build_name(&b, "gemm");
	uint64_t end_ns = 5000;

	build_device(&b, 0, "GPU");
	build_info(&b, GP_INFO_RANK, rank);
	build_op(&b, GP_OP_KERNEL, 7, 0, 500, 0)->name = gemm;
	for (size_t i = 0; i < count; i++) {
		build_op(&b, GP_OP_KERNEL, 20 + pid, end_ns - durations_ns[i], end_ns, 0)->name =
			name;
		end_ns += 5000;
	}
	return build_end(&b);
}

static struct gp_model *rank_of(uint32_t pid, const char *rank, const uint64_t *durations_ns,
				size_t count)
{
	return rank_with(ALL_REDUCE, pid, rank, durations_ns, count);
}

static void look(struct gp_model **models, size_t count, struct gp_scope *scope,
		 struct gp_table *sheet)
{
	assert_int_equal(gp_scope_open(scope, models, count, false), 0);
	assert_int_equal(gp_breakdown_make(&gp_breakdown_collective_rank, scope, sheet), 0);
}

static void forget(struct gp_model **models, size_t count, struct gp_scope *scope,
		   struct gp_table *sheet)
{
	gp_table_close(sheet);
	gp_scope_close(scope);
	for (size_t i = 0; i < count; i++)
		gp_model_free(models[i]);
}

/* The last to come waits least: 100 of 300 and 400, then 200 of 1000 and 600. */
static void who_ran_shortest_came_last(void **state)
{
	static const uint64_t first[] = {300, 200}, second[] = {100, 1000}, third[] = {400, 600};
	static const uint64_t expected[][5] = {
		{2, 1, 600, 200, 500}, {2, 1, 250, 800, 1100}, {2, 0, 0, 700, 1000}};
	struct gp_model *models[] = {rank_of(1, "0", first, 2), rank_of(2, "1", second, 2),
				     rank_of(3, "2", third, 2)};
	struct gp_scope scope;
	struct gp_table sheet;

	look(models, 3, &scope, &sheet);
	assert_int_equal(gp_table_rows(&sheet), 3);
	for (size_t i = 0; i < 3; i++) {
		const struct gp_value *row = gp_table_row(&sheet, i);

		for (size_t k = COUNT; k <= TOTAL; k++)
			assert_int_equal(row[k].whole, expected[i][k]);
		assert_int_equal(row[RANK].text[0], '0' + (char)i);
	}
	forget(models, 3, &scope, &sheet);
}

/*
 * Ranks 0 and 1 reduce, and rank 0 is late.  Then ranks 1 and 2 gather: rank 1 is the last, but only
 * because it waited for rank 0.
 */
static void a_rank_that_had_to_wait_holds_up_none(void **state)
{
	static const uint64_t expected[][2] = {{1, 700}, {1, 0}}; /* Last, Held up */
	struct gp_model *models[3];
	struct gp_scope scope;
	struct gp_table sheet;

	for (uint32_t rank = 0; rank < 3; rank++) {
		struct build b = build_begin(rank + 1);
		uint32_t reduce = build_name(&b, ALL_REDUCE),
			 gather = build_name(&b, "ncclDevKernel_AllGather");
		char text[8];

		build_device(&b, 0, "GPU");
		snprintf(text, sizeof(text), "%u", rank);
		build_info(&b, GP_INFO_RANK, text);
		for (uint64_t at_ns = 1000, late_ns = 0; at_ns <= 11000;
		     at_ns += 10000, late_ns = 700) {
			if (rank < 2)
				build_op(&b, GP_OP_KERNEL, 7, at_ns + (rank == 0 ? late_ns : 0),
					 at_ns + late_ns + 100, 0)
					->name = reduce;
			if (rank > 0)
				build_op(&b, GP_OP_KERNEL, 7,
					 at_ns + 110 + (rank == 1 ? late_ns : 0),
					 at_ns + late_ns + 300, 0)
					->name = gather;
		}
		models[rank] = build_end(&b);
	}
	look(models, 3, &scope, &sheet);
	assert_int_equal(gp_table_rows(&sheet), 4);
	for (size_t i = 0; i < 4; i++) {
		const struct gp_value *row = gp_table_row(&sheet, i);
		size_t at = row[RANK].text[0] == '0' ? 0 : 1;

		if (row[LAST].whole == 0)
			continue;
		assert_int_equal(row[LAST].whole, expected[at][0]);
		assert_int_equal(row[HELD_UP].whole, expected[at][1]);
	}
	forget(models, 3, &scope, &sheet);
	(void)state;
}

static void what_not_all_did_as_often_is_not_compared(void **state)
{
	static const uint64_t twice[] = {300, 200}, once[] = {100};
	struct gp_model *models[] = {rank_of(1, "0", twice, 2), rank_of(2, "1", once, 1)};
	struct gp_scope scope;
	struct gp_table sheet;

	look(models, 2, &scope, &sheet);
	assert_int_equal(gp_table_rows(&sheet), 0);
	forget(models, 2, &scope, &sheet);
}

/* Rank 1 was killed in the second operation: the others are compared without it. */
static void a_killed_rank_lacks_the_last_operations(void **state)
{
	static const uint64_t first[] = {300, 200}, second[] = {100}, third[] = {400, 600};
	static const uint64_t expected[][4] = {{2, 1, 400, 200}, {1, 1, 250, 0}, {2, 0, 0, 700}};
	struct gp_model *models[] = {rank_of(1, "0", first, 2), rank_of(2, "1", second, 1),
				     rank_of(3, "2", third, 2)};
	struct gp_scope scope;
	struct gp_table sheet;

	models[1]->losses.closed = false;
	look(models, 3, &scope, &sheet);
	assert_int_equal(gp_table_rows(&sheet), 3);
	for (size_t i = 0; i < 3; i++) {
		const struct gp_value *row = gp_table_row(&sheet, i);

		for (size_t k = COUNT; k <= WAITED; k++)
			assert_int_equal(row[k].whole, expected[rank_at(row)][k]);
	}
	forget(models, 3, &scope, &sheet);
}

/*
 * Who waits for whom is known of collectives only: a send waits for one rank, a broadcast's sender
 * for none.
 */
static void only_collectives_of_all_ranks_are_compared(void **state)
{
	static const struct {
		const char *kernel;
		size_t rows;
	} cases[] = {
		{"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 0},
		{"ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
		 0},
		{"ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 0},
		{"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 2},
		{"ncclDevKernel_ReduceScatter_Sum_u32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		 2},
		{"nccl_all_to_all_kernel", 2},
	};
	static const uint64_t first[] = {300, 200}, second[] = {100, 1000};
	struct gp_scope scope;
	struct gp_table sheet;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *models[] = {rank_with(cases[i].kernel, 1, "0", first, 2),
					     rank_with(cases[i].kernel, 2, "1", second, 2)};

		look(models, 2, &scope, &sheet);
		if (gp_table_rows(&sheet) != cases[i].rows)
			fail_msg("%s: %zu rows", cases[i].kernel, gp_table_rows(&sheet));
		forget(models, 2, &scope, &sheet);
	}
}

/* 200, 200 and 500: the third waited, for two. */
static void of_several_as_short_none_is_last(void **state)
{
	static const uint64_t as_short[] = {200}, longer[] = {500};
	struct gp_model *models[] = {rank_of(1, "0", as_short, 1), rank_of(2, "1", as_short, 1),
				     rank_of(3, "2", longer, 1)};
	struct gp_scope scope;
	struct gp_table sheet;

	look(models, 3, &scope, &sheet);
	assert_int_equal(gp_table_rows(&sheet), 3);
	for (size_t i = 0; i < 3; i++) {
		const struct gp_value *row = gp_table_row(&sheet, i);

		assert_int_equal(row[LAST].whole, 0);
		assert_int_equal(row[HELD_UP].whole, 0);
		assert_int_equal(row[WAITED].whole, rank_at(row) == 2 ? 300 : 0);
	}
	forget(models, 3, &scope, &sheet);
}

/*
 * Ranks that made the same collectives, each by a call in a range of NCCL's: of two of theirs that
 * talk to each other, or between the start and the end of a group.
 */
static struct gp_model *rank_in(uint32_t pid, const uint64_t *communicators,
				const uint64_t *durations_ns, uint32_t count, bool in_group)
{
	static const char schema[] = "1\t8\tAllReduce\n0\t18\t0\t0\tNCCL communicator ID\n";
	struct build b = build_begin(pid);
	uint32_t name = build_name(&b, ALL_REDUCE);
	struct gp_text *texts = calloc(count + 1, sizeof(*texts));
	uint64_t end_ns = 1000 + 1000 * (uint64_t)count;
	const char rank[] = {(char)('0' + pid - 1), '\0'};

	build_check(texts != NULL);
	build_device(&b, 0, "GPU");
	build_info(&b, GP_INFO_RANK, rank);
	texts[0] = (struct gp_text){GP_STRING_SCHEMA, 1, 0, sizeof(schema) - 1, (char *)schema};
	if (in_group)
		build_range(&b, 100, "ncclGroupStart", 900, 950);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t at_ns = 1000 + 1000ull * i;
		uint64_t launch_ns = in_group ? end_ns + 10 + i * 10 : at_ns + 100;

		texts[i + 1] =
			(struct gp_text){GP_STRING_PAYLOAD, i + 1, 1, 8, (char *)&communicators[i]};
		build_range(&b, 100, "ncclAllReduce", at_ns, at_ns + 500);
		b.model->ranges[b.model->range_count - 1].extended_payload = i + 1;
		build_call(&b, 100, BUILD_LAUNCH, launch_ns, 5, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, 10000 + 5000 * i, 10000 + 5000 * i + durations_ns[i],
			 i + 1)
			->name = name;
	}
	if (in_group)
		build_range(&b, 100, "ncclGroupEnd", end_ns, end_ns + 500);
	b.model->domains[0] = "NCCL";
	b.model->texts = texts;
	b.model->text_count = count + 1;
	return build_end(&b);
}

static void forget_texts(struct gp_model **models, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(models[i]->texts);
		models[i]->texts = NULL;
		models[i]->text_count = 0;
	}
}

/*
 * Of four ranks 1 and 2 are of one communicator, 3 and 4 of another: who came last of all four is
 * nobody's.
 */
static void ranks_of_one_communicator_are_compared(void **state)
{
	static const uint64_t here[] = {0xa1, 0xa1}, there[] = {0xb2, 0xb2};
	static const uint64_t durations_ns[][2] = {
		{300, 200}, {100, 1000}, {5000, 4000}, {9000, 8000}};
	static const uint64_t waited_ns[] = {200, 800, 0, 8000};

	for (int in_group = 0; in_group <= 1; in_group++) {
		struct gp_model *models[4];
		struct gp_scope scope;
		struct gp_table sheet;

		for (uint32_t i = 0; i < 4; i++)
			models[i] =
				rank_in(i + 1, i < 2 ? here : there, durations_ns[i], 2, in_group);
		look(models, 4, &scope, &sheet);
		assert_int_equal(gp_table_rows(&sheet), 4);
		for (size_t i = 0; i < 4; i++) {
			const struct gp_value *row = gp_table_row(&sheet, i);
			size_t rank = rank_at(row);

			assert_int_equal(row[COMMUNICATOR].whole, rank < 2 ? 0xa1 : 0xb2);
			assert_int_equal(row[WAITED].whole, waited_ns[rank]);
		}
		forget_texts(models, 4);
		forget(models, 4, &scope, &sheet);
	}
}

/* Of a group of two communicators nobody knows which kernel is of which. */
static void a_group_of_several_communicators_tells_none(void **state)
{
	static const uint64_t both[] = {0xa1, 0xb2};
	static const uint64_t durations_ns[][2] = {{300, 200}, {100, 1000}};

	for (int in_group = 0; in_group <= 1; in_group++) {
		struct gp_model *models[2];
		struct gp_scope scope;
		struct gp_table sheet;

		for (uint32_t i = 0; i < 2; i++)
			models[i] = rank_in(i + 1, both, durations_ns[i], 2, in_group);
		look(models, 2, &scope, &sheet);
		assert_int_equal(gp_table_rows(&sheet), in_group ? 2 : 4);
		for (size_t i = 0; i < gp_table_rows(&sheet); i++)
			assert_true((gp_table_row(&sheet, i)[COMMUNICATOR].kind == GP_VALUE_NONE) ==
				    in_group);
		forget_texts(models, 2);
		forget(models, 2, &scope, &sheet);
	}
}

/*
 * A group as long as that the look ends amid it, and one whose start was not recorded: what came
 * before may be of another communicator.
 */
static void a_group_without_its_start_tells_none(void **state)
{
	enum { COUNT_OF_LONG = 2400 };
	static uint64_t communicators[COUNT_OF_LONG], durations_ns[COUNT_OF_LONG];

	for (int is_long = 0; is_long <= 1; is_long++) {
		uint32_t count = is_long ? COUNT_OF_LONG : 2;
		struct gp_model *models[2];
		struct gp_scope scope;
		struct gp_table sheet;

		for (uint32_t i = 0; i < count; i++) {
			communicators[i] = is_long && i < 300 ? 0xa1 : 0xb2;
			durations_ns[i] = 100;
		}
		for (uint32_t i = 0; i < 2; i++) {
			models[i] = rank_in(i + 1, communicators, durations_ns, count, true);
			if (!is_long)
				models[i]->ranges[0].thread_id = 99;
		}
		look(models, 2, &scope, &sheet);
		for (size_t i = 0; i < gp_table_rows(&sheet); i++) {
			const struct gp_value *row = gp_table_row(&sheet, i);

			assert_true(row[COMMUNICATOR].kind == GP_VALUE_NONE);
		}
		assert_int_equal(gp_table_rows(&sheet), 2);
		forget_texts(models, 2);
		forget(models, 2, &scope, &sheet);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_ran_shortest_came_last),
		cmocka_unit_test(a_rank_that_had_to_wait_holds_up_none),
		cmocka_unit_test(what_not_all_did_as_often_is_not_compared),
		cmocka_unit_test(a_killed_rank_lacks_the_last_operations),
		cmocka_unit_test(only_collectives_of_all_ranks_are_compared),
		cmocka_unit_test(of_several_as_short_none_is_last),
		cmocka_unit_test(ranks_of_one_communicator_are_compared),
		cmocka_unit_test(a_group_of_several_communicators_tells_none),
		cmocka_unit_test(a_group_without_its_start_tells_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
