/* host_clocks: offset and drift of a host's clock, and their stated error. */
#include "tests/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/tables/by/host_clocks.h"
#include "tests/report/model_builder.h"

#define MS               INT64_C(1000000)
#define FIRST_BOOT_NS    (UINT64_C(3600) * 1000000000) /* uptime of a host when the job begins */
#define INTERVAL_NS      (20 * MS)
#define ALL_REDUCE       "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
#define ALL_GATHER       "ncclDevKernel_AllGather_RING_LL"
#define LAST_RANK        5 /* of two ranks on each host */
#define BETWEEN_BOOTS_NS (UINT64_C(1000) * 1000000000)

/* A host's clocks: the wall clock is ahead of the true time, and gains drift ns in each ns. */
struct host {
	int64_t ahead_ns;
	double drift;
};

static const struct host hosts[] = {{0, 0}, {250 * MS, 3e-6}, {-40 * MS, -8e-6}};

static uint32_t seed;
static int64_t lag_ns; /* of the last rank: each of its operations ends so much later */

/* A random time of up to that much, positive or negative. */
static int64_t jitter(int64_t most_ns)
{
	seed = seed * 1664525u + 1013904223u;
	return (int64_t)((seed >> 8) % (uint64_t)(2 * most_ns + 1)) - most_ns;
}

/* The host's CLOCK_MONOTONIC at a time since the job began. */
static uint64_t monotonic_ns(size_t host, int64_t true_ns)
{
	return FIRST_BOOT_NS + host * BETWEEN_BOOTS_NS +
	       (uint64_t)(true_ns + (int64_t)(hosts[host].drift * (double)true_ns));
}

/* The true wall clock at that time. */
static uint64_t wall_ns(int64_t true_ns)
{
	return BUILD_BASE_UNIX_NS + (uint64_t)true_ns;
}

/* A rank with operations of these kernels on one stream; their ends differ by this jitter. */
static struct gp_model *rank_of(uint32_t rank, size_t host, const char *const *kernels,
				uint32_t count, int64_t jitter_ns)
{
	struct build b = build_begin(rank + 1);
	char text[16];

	snprintf(text, sizeof(text), "%u", rank);
	build_info(&b, GP_INFO_RANK, text);
	snprintf(text, sizeof(text), "boot-%zu", host);
	build_info(&b, GP_INFO_BOOT_ID, text);
	b.model->base_monotonic_ns = monotonic_ns(host, 0);
	b.model->base_unix_ns = wall_ns(0) + (uint64_t)hosts[host].ahead_ns;
	build_device(&b, 0, "GPU");
	for (uint32_t k = 0; kernels[k]; k++) {
		uint32_t name = build_name(&b, kernels[k]);
		int64_t from_ns = strcmp(kernels[k], ALL_GATHER) == 0 ? INTERVAL_NS / 2 : 0;

		for (uint32_t i = 1; i <= count; i++) {
			/* one in ten ends late, which only a robust line tolerates */
			int64_t late_ns = i % 10 == 0 ? jitter(5 * MS) : 0;
			int64_t end_ns = i * INTERVAL_NS + from_ns + jitter(jitter_ns) + late_ns +
					 (rank == LAST_RANK ? lag_ns : 0);
			uint64_t end = monotonic_ns(host, end_ns) - monotonic_ns(host, 0);

			build_op(&b, GP_OP_KERNEL, 7, end - MS, end, 0)->name = name;
		}
	}
	return build_end(&b);
}

struct job {
	const char *kernels[3][3]; /* of the ranks of each host */
	uint32_t ranks_per_host, operations;
	int64_t jitter_ns;
};

static void solve(struct gp_clock_fit *fit, const struct job *job)
{
	*fit = (struct gp_clock_fit){0};
	/* the reference host is not the first that is read */
	for (size_t host = COUNT(hosts); host-- > 0;)
		for (uint32_t i = 0; i < job->ranks_per_host; i++) {
			uint32_t rank = (uint32_t)host * job->ranks_per_host + i;
			struct gp_model *model = rank_of(rank, host, job->kernels[host],
							 job->operations, job->jitter_ns);

			assert_int_equal(gp_clock_fit_add(fit, model), 0);
			gp_model_free(model);
		}
	assert_int_equal(gp_clock_fit_solve(fit), 0);
}

static const struct gp_host_clock *clock_of(const struct gp_clock_fit *fit, size_t host)
{
	char boot[16];

	snprintf(boot, sizeof(boot), "boot-%zu", host);
	return gp_host_clock_find(&fit->clocks, boot);
}

/* At the beginning, in the middle and at the end. */
static void assert_aligned(const struct gp_host_clock *clock, size_t host, uint32_t operations,
			   int64_t most_ns)
{
	assert_true(clock->is_known);
	assert_in_range(clock->error_ns, host == 0 ? 0 : 1, (uint64_t)most_ns);
	for (uint32_t i = 0; i <= 2; i++) {
		int64_t true_ns = (int64_t)(i * operations / 2) * INTERVAL_NS;
		int64_t found_ns =
			(int64_t)gp_host_clock_unix_ns(clock, monotonic_ns(host, true_ns));

		assert_in_range(llabs(found_ns - (int64_t)wall_ns(true_ns)), 0, clock->error_ns);
	}
}

#define OF_ALL                                                                                     \
	{                                                                                          \
		{ALL_REDUCE}, {ALL_REDUCE},                                                        \
		{                                                                                  \
			ALL_REDUCE                                                                 \
		}                                                                                  \
	}

static void offset_and_drift_are_found_within_the_stated_error(void **state)
{
	static const struct job jobs[] = {
		{OF_ALL, 1, 400, 500},
		{OF_ALL, 2, 400, 2000},
		{OF_ALL, 4, 100, 1000},
	};
	struct gp_clock_fit fit;

	for (seed = 1; seed < 40; seed += 13)
		for (size_t i = 0; i < COUNT(jobs); i++) {
			solve(&fit, &jobs[i]);
			for (size_t host = 0; host < COUNT(hosts); host++)
				assert_aligned(clock_of(&fit, host), host, jobs[i].operations,
					       10000);
			assert_in_range(clock_of(&fit, 1)->ahead_ns, 250 * MS,
					250 * MS + 8000 * MS * 3 / 1000000);
			assert_int_equal(clock_of(&fit, 0)->error_ns, 0);
			assert_int_equal(clock_of(&fit, 0)->operations, 0);
			gp_clock_fit_free(&fit);
		}
}

static void few_operations_tell_nothing(void **state)
{
	static const struct job few = {OF_ALL, 1, 15, 500}, enough = {OF_ALL, 1, 16, 500},
				none = {{{NULL}}, 1, 0, 0};
	struct gp_clock_fit fit;

	solve(&fit, &few);
	assert_true(clock_of(&fit, 0)->is_known);
	assert_false(clock_of(&fit, 1)->is_known);
	gp_clock_fit_free(&fit);
	solve(&fit, &enough);
	assert_true(clock_of(&fit, 1)->is_known && clock_of(&fit, 2)->is_known);
	gp_clock_fit_free(&fit);
	solve(&fit, &none);
	assert_false(clock_of(&fit, 2)->is_known);
	gp_clock_fit_free(&fit);
}

/* Nobody knows which of the two ranks ends with those of the other hosts. */
static void a_rank_that_always_ends_later_is_in_the_error(void **state)
{
	static const struct job job = {OF_ALL, 2, 200, 500};
	struct gp_clock_fit fit;

	lag_ns = 100000;
	solve(&fit, &job);
	assert_aligned(clock_of(&fit, 2), 2, job.operations, 70000);
	assert_in_range(clock_of(&fit, 2)->error_ns, 50000, 70000);
	assert_aligned(clock_of(&fit, 1), 1, job.operations, 10000);
	lag_ns = 0;
	gp_clock_fit_free(&fit);
}

static void ends_that_differ_tell_nothing(void **state)
{
	static const struct job job = {OF_ALL, 1, 100, 10 * MS};
	struct gp_clock_fit fit;

	solve(&fit, &job);
	assert_false(clock_of(&fit, 1)->is_known);
	gp_clock_fit_free(&fit);
}

/* Hosts 0 and 2 have no operation in common, but host 1 has some with both. */
static void a_host_is_aligned_by_another_one(void **state)
{
	static const struct job job = {
		{{ALL_REDUCE}, {ALL_REDUCE, ALL_GATHER}, {ALL_GATHER}}, 2, 200, 1000};
	struct gp_clock_fit fit;

	seed = 5;
	solve(&fit, &job);
	assert_aligned(clock_of(&fit, 2), 2, job.operations, 20000);
	assert_true(clock_of(&fit, 2)->error_ns > clock_of(&fit, 1)->error_ns);
	gp_clock_fit_free(&fit);
}

/* Times that a damaged trace may have. */
static void impossible_times_tell_nothing(void **state)
{
	static const struct job job = {OF_ALL, 1, 40, 500};
	static const uint64_t times_ns[] = {0, 1, UINT64_MAX / 2, UINT64_MAX};
	static const char *const kernels[] = {ALL_REDUCE, NULL};

	for (size_t i = 0; i < COUNT(times_ns); i++)
		for (size_t k = 0; k < COUNT(times_ns); k++) {
			struct gp_clock_fit fit = {0};

			for (uint32_t rank = 0; rank < 2; rank++) {
				struct gp_model *model =
					rank_of(rank, rank, kernels, job.operations, 500);

				if (rank == 1) {
					model->base_unix_ns = times_ns[k];
					model->base_monotonic_ns = 5;
					for (uint32_t op = 0; op < model->op_count; op += 2)
						model->ops[op].end_ns = times_ns[i];
				}
				assert_int_equal(gp_clock_fit_add(&fit, model), 0);
				gp_model_free(model);
			}
			assert_int_equal(gp_clock_fit_solve(&fit), 0);
			gp_clock_fit_free(&fit);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offset_and_drift_are_found_within_the_stated_error),
		cmocka_unit_test(few_operations_tell_nothing),
		cmocka_unit_test(a_rank_that_always_ends_later_is_in_the_error),
		cmocka_unit_test(ends_that_differ_tell_nothing),
		cmocka_unit_test(a_host_is_aligned_by_another_one),
		cmocka_unit_test(impossible_times_tell_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
