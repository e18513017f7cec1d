/* ranks: what each rank did, and the names of processes by rank. */
#include "tests/unit.h"

#include "report/model/process_name.h"
#include "report/tables/breakdown.h"
#include "tests/report/model_builder.h"

#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

enum { RANK, STEP, COMPUTING, COMMUNICATING, WAITED, HELD_UP, PEAK, HOST, ENDED, STEPS, PROCESS };

/* Computes for gemm_ns, then communicates. */
static struct gp_model *rank_of(uint32_t pid, const char *rank, uint64_t gemm_ns,
				uint64_t all_reduce_ns)
{
	struct build b = build_begin(pid);
	uint32_t name = build_name(&b, ALL_REDUCE), gemm = build_name(&b, "gemm");

	build_device(&b, 0, "GPU");
	if (rank)
		build_info(&b, GP_INFO_RANK, rank);
	build_op(&b, GP_OP_KERNEL, 7, 0, gemm_ns, 0)->name = gemm;
	build_op(&b, GP_OP_KERNEL, 20 + pid, 10000 - 10 * pid, 10000, 0)->name = name;
	build_op(&b, GP_OP_KERNEL, 20 + pid, 20000 - all_reduce_ns, 20000, 0)->name = name;
	return build_end(&b);
}

static void a_row_for_each_rank(void **state)
{
	static const uint64_t expected[][5] = {
		{2, 700, 330, 0, 150}, {9, 600, 440, 100, 0}, {10, 500, 510, 200, 0}};
	struct gp_model *models[] = {rank_of(1, "10", 500, 500), rank_of(2, NULL, 1, 1),
				     rank_of(3, "2", 700, 300), rank_of(4, "9", 600, 400)};
	struct gp_scope scope;
	struct gp_table table;

	(void)state;
	/* The process without a rank communicates with nobody. */
	models[1]->ops[1].name = models[1]->ops[2].name = models[1]->ops[0].name;
	assert_int_equal(gp_scope_open(&scope, models, 4, false), 0);
	assert_int_equal(gp_breakdown_make(&gp_breakdown_rank, &scope, &table), 0);
	assert_int_equal(gp_table_rows(&table), 3);
	for (size_t i = 0; i < 3; i++) {
		const struct gp_value *row = gp_table_row(&table, i);

		assert_int_equal(row[RANK].whole, expected[i][0]);
		assert_int_equal(row[STEP].kind, GP_VALUE_NONE); /* no loop */
		for (size_t k = 1; k < 5; k++)
			assert_int_equal(row[COMPUTING + k - 1].whole, expected[i][k]);
	}
	assert_string_equal(gp_table_row(&table, 0)[PROCESS].text, "rank 2");
	gp_table_close(&table);
	gp_scope_close(&scope);
	for (size_t i = 0; i < 4; i++)
		gp_model_free(models[i]);
}

static void processes_are_named_by_rank(void **state)
{
	static const char *const expected[] = {"rank 3", "rank 7, pid 11", "rank 7, pid 14",
					       "pid 10", "pid 13"};
	struct gp_model *models[] = {rank_of(10, NULL, 1, 1), rank_of(11, "7", 1, 1),
				     rank_of(12, "3", 1, 1), rank_of(13, "x", 1, 1),
				     rank_of(14, "7", 1, 1)};

	(void)state;
	assert_int_equal(gp_process_order(models, 5), 0);
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(gp_process_name(models[i]).text, expected[i]);
		gp_model_free(models[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_for_each_rank),
		cmocka_unit_test(processes_are_named_by_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
