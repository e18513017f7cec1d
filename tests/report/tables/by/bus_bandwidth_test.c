/* bus_bandwidth: the bandwidths of nccl-tests, from NCCL's ranges and the shortest kernels. */
#include "tests/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/tables/breakdown.h"
#include "tests/report/model_builder.h"

#define MIB          (UINT64_C(1) << 20)
#define RANKS        4
#define COMMUNICATOR 0xa1

enum { COUNT_OF, SIZE, RANK_COUNT, MED, MIN, WAITED, ALGORITHM, BUS, PEAK, OF_PEAK, ID, NAME };

static const char schema_of_init[] = "1\t16\tInit\n"
				     "0\t18\t0\t0\tNCCL communicator ID\n"
				     "0\t5\t8\t0\tNo. of ranks\n";
static const char schema_of_call[] = "1\t16\tAllReduce\n"
				     "0\t18\t0\t0\tNCCL communicator ID\n"
				     "0\t22\t8\t0\tMessage size [bytes]\n";

static const uint64_t made[] = {COMMUNICATOR, RANKS};
static const uint64_t made_of_two[] = {COMMUNICATOR, 2};

/* Ranks of one host with operations of a kernel, which take longer by rank * 100 us. */
struct job {
	const char *kernel;
	uint64_t call[2]; /* communicator, bytes */
	const uint64_t *made;
	uint32_t ranks;
	bool has_links, has_two_hosts;
};

/* Of the last operation of each rank; no communicator: the call of the job. */
static uint64_t last_call[2];

static struct gp_model *rank_of(const struct job *job, uint32_t rank)
{
	struct build b = build_begin(rank + 1);
	struct gp_text *texts = calloc(5, sizeof(*texts));
	uint32_t name = build_name(&b, job->kernel);
	char text[16];

	build_check(texts != NULL);
	snprintf(text, sizeof(text), "%u", rank);
	build_info(&b, GP_INFO_RANK, text);
	build_info(&b, GP_INFO_WORLD_SIZE, "4");
	build_info(&b, GP_INFO_BOOT_ID, job->has_two_hosts && rank > 0 ? "b" : "a");
	build_device(&b, 0, "GPU");
	texts[0] = (struct gp_text){GP_STRING_SCHEMA, 1, 0, sizeof(schema_of_init) - 1,
				    (char *)schema_of_init};
	texts[1] = (struct gp_text){GP_STRING_SCHEMA, 2, 0, sizeof(schema_of_call) - 1,
				    (char *)schema_of_call};
	texts[2] = (struct gp_text){GP_STRING_PAYLOAD, 1, 1, 16, (char *)job->made};
	texts[3] = (struct gp_text){GP_STRING_PAYLOAD, 2, 2, 16, (char *)job->call};
	texts[4] = (struct gp_text){GP_STRING_PAYLOAD, 3, 2, 16, (char *)last_call};
	if (job->made) {
		build_range(&b, 100, "ncclCommInitRankConfig", 100, 200);
		b.model->ranges[0].extended_payload = 2;
	}
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t at_ns = 1000 + 1000 * i, start_ns = (1 + i) * 10 * UINT64_C(1000000);

		build_range(&b, 100, "ncclCall", at_ns, at_ns + 500);
		b.model->ranges[b.model->range_count - 1].extended_payload =
			i == 2 && last_call[0] != 0 ? 4 : 3;
		build_call(&b, 100, BUILD_LAUNCH, at_ns + 100, 5, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, start_ns, start_ns + 1000000 + rank * 100000, i + 1)
			->name = name;
	}
	b.model->domains[0] = "NCCL";
	b.model->texts = texts;
	b.model->text_count = 5;
	if (job->has_links) {
		b.model->links = gp_spill_take(sizeof(*b.model->links));
		build_check(b.model->links != NULL);
		b.model->link_count = 1;
		*b.model->links = (struct gp_record_link){
			.link_kind = GP_LINK_NVLINK, .lanes = 18, .lane_mbytes_per_s = 25000};
	}
	return build_end(&b);
}

struct result {
	struct gp_model *models[RANKS];
	uint32_t count;
	struct gp_scope scope;
	struct gp_table table;
};

static void make(struct result *result, const struct job *job)
{
	result->count = job->ranks;
	for (uint32_t i = 0; i < job->ranks; i++)
		result->models[i] = rank_of(job, i);
	assert_int_equal(gp_scope_open(&result->scope, result->models, job->ranks, false), 0);
	assert_int_equal(
		gp_breakdown_make(&gp_breakdown_bus_bandwidth, &result->scope, &result->table), 0);
}

static void forget(struct result *result)
{
	gp_table_close(&result->table);
	gp_scope_close(&result->scope);
	for (uint32_t i = 0; i < result->count; i++) {
		free(result->models[i]->texts);
		result->models[i]->texts = NULL;
		result->models[i]->text_count = 0;
		gp_model_free(result->models[i]);
	}
}

static void assert_near(double value, double expected)
{
	assert_true(fabs(value - expected) < 1e-9 * expected);
}

/* The shortest kernel takes 1 ms. The factors are those of nccl-tests, doc/PERFORMANCE.md. */
static void bandwidths_are_those_of_nccl_tests(void **state)
{
	static const struct {
		struct job job;
		uint64_t size;
		double factor;
	} cases[] = {
		{{"ncclDevKernel_AllReduce_Sum_f32_RING_LL",
		  {COMMUNICATOR, 64 * MIB},
		  made,
		  4,
		  0,
		  0},
		 64 * MIB,
		 1.5},
		{{"ncclDevKernel_AllGather_RING_LL", {COMMUNICATOR, 16 * MIB}, made, 4, 0, 0},
		 64 * MIB,
		 0.75},
		{{"ncclDevKernel_ReduceScatter_Sum_f32_RING_LL",
		  {COMMUNICATOR, 16 * MIB},
		  made,
		  4,
		  0,
		  0},
		 64 * MIB,
		 0.75},
		{{"ncclDevKernel_Broadcast_RING_LL", {COMMUNICATOR, 64 * MIB}, made, 4, 0, 0},
		 64 * MIB,
		 1},
		{{"ncclDevKernel_Reduce_Sum_f32_RING_LL", {COMMUNICATOR, 64 * MIB}, made, 4, 0, 0},
		 64 * MIB,
		 1},
		{{"ncclDevKernel_SendRecv", {COMMUNICATOR, 64 * MIB}, made_of_two, 2, 0, 0},
		 64 * MIB,
		 1},
		/* two of the four ranks were recorded */
		{{"ncclDevKernel_AllReduce_Sum_f32_RING_LL",
		  {COMMUNICATOR, 64 * MIB},
		  made,
		  2,
		  0,
		  0},
		 64 * MIB,
		 1.5},
		/* nothing says how many ranks there are, but all were recorded */
		{{"ncclDevKernel_AllReduce_Sum_f32_RING_LL",
		  {COMMUNICATOR, 64 * MIB},
		  NULL,
		  4,
		  0,
		  0},
		 64 * MIB,
		 1.5},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct gp_value *row;
		struct result result;

		make(&result, &cases[i].job);
		assert_int_equal(gp_table_rows(&result.table), 1);
		row = gp_table_row(&result.table, 0);
		assert_int_equal(row[COUNT_OF].whole, 3);
		assert_int_equal(row[SIZE].whole, cases[i].size);
		assert_int_equal(row[RANK_COUNT].whole, cases[i].job.made == made_of_two ? 2 : 4);
		assert_int_equal(row[MED].whole, 1000000);
		assert_near(row[ALGORITHM].real, (double)cases[i].size / 1e6);
		assert_near(row[BUS].real, (double)cases[i].size / 1e6 * cases[i].factor);
		assert_int_equal(row[PEAK].kind, GP_VALUE_NONE);
		assert_int_equal(row[OF_PEAK].kind, GP_VALUE_NONE);
		assert_int_equal(row[ID].whole, COMMUNICATOR);
		forget(&result);
	}
}

static void unknown_sizes_and_numbers_of_ranks_have_no_row(void **state)
{
	static const char all_reduce[] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
	static const struct job jobs[] = {
		{all_reduce, {COMMUNICATOR, 0}, made, 4, 0, 0},
		{all_reduce, {0, 64 * MIB}, made, 4, 0, 0},
		/* a rank is missing */
		{all_reduce, {COMMUNICATOR, 64 * MIB}, NULL, 3, 0, 0},
		/* it is not known which two of the four ranks exchanged data */
		{"ncclDevKernel_SendRecv", {COMMUNICATOR, 64 * MIB}, made, 4, 0, 0},
		/* its traffic is not known */
		{"ncclDevKernel_Generic", {COMMUNICATOR, 64 * MIB}, made, 4, 0, 0},
	};

	for (size_t i = 0; i < COUNT(jobs); i++) {
		struct result result;

		make(&result, &jobs[i]);
		assert_int_equal(gp_table_rows(&result.table), 0);
		forget(&result);
	}
}

static void the_peak_is_that_of_links_within_a_host(void **state)
{
	static const char all_reduce[] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
	static const struct {
		struct job job;
		bool is_known;
	} cases[] = {
		{{all_reduce, {COMMUNICATOR, 64 * MIB}, made, 4, true, false}, true},
		{{all_reduce, {COMMUNICATOR, 64 * MIB}, made, 4, true, true}, false},
		{{all_reduce, {COMMUNICATOR, 64 * MIB}, made, 3, true, false}, false},
		/* faster than these links */
		{{all_reduce, {COMMUNICATOR, 1024 * MIB}, made, 4, true, false}, false},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct gp_value *row;
		struct result result;

		make(&result, &cases[i].job);
		row = gp_table_row(&result.table, 0);
		assert_int_equal(row[PEAK].kind != GP_VALUE_NONE, cases[i].is_known);
		assert_int_equal(row[OF_PEAK].kind != GP_VALUE_NONE, cases[i].is_known);
		if (cases[i].is_known) {
			assert_near(row[PEAK].real, 450);
			assert_near(row[OF_PEAK].real, 100 * 64 * (double)MIB * 1.5 / 1e6 / 450);
		}
		forget(&result);
	}
}

/* Of one size each; those of the longest time first, then the smaller ones. */
static void sizes_are_in_the_order_of_their_time(void **state)
{
	static const struct job job = {
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL", {COMMUNICATOR, 16 * MIB}, made, 4, 0, 0};
	static const uint64_t sizes[] = {16 * MIB, 64 * MIB}, counts[] = {2, 1};
	struct result result;

	(void)state;
	last_call[0] = COMMUNICATOR;
	last_call[1] = 64 * MIB;
	make(&result, &job);
	assert_int_equal(gp_table_rows(&result.table), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(gp_table_row(&result.table, i)[SIZE].whole, sizes[i]);
		assert_int_equal(gp_table_row(&result.table, i)[COUNT_OF].whole, counts[i]);
	}
	forget(&result);
	last_call[0] = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bandwidths_are_those_of_nccl_tests),
		cmocka_unit_test(unknown_sizes_and_numbers_of_ranks_have_no_row),
		cmocka_unit_test(the_peak_is_that_of_links_within_a_host),
		cmocka_unit_test(sizes_are_in_the_order_of_their_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
