/*
 * one_pass: records that come one by one, out of rings of a process that was killed; and any number
 * of threads.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "report/stream/one_pass.h"
#include "tests/unit.h"
#include "tests/report/trace_builder.h"

#define MOST_CORES 8u
#define STEPS      3000u
#define LAUNCHES   100u /* a step */
#define KERNELS    7u

static uint32_t cores; /* that the process may use; 0: as it is */

/* The C library's, so that threads are made on any machine. */
int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
	(void)pid;
	memset(set, 0, bytes);
	for (uint32_t i = 0; i < (cores > 0 ? cores : 1); i++)
		CPU_SET_S(i, bytes, set);
	return 0;
}

/* What is given to the loader. */
struct given {
	uint32_t count, last_thread;
	uint8_t last_kind;
	int answer;
	uint64_t in_order; /* of all: other where two change places */
};

static int take(void *context, const struct gp_record_view *seen)
{
	const union gp_any_record *record = seen->record;
	struct given *given = context;

	given->count++;
	given->last_thread = seen->thread_id;
	given->last_kind = record->head.kind;
	given->in_order = 31 * given->in_order + seen->thread_id + record->head.kind;
	if (record->head.kind == GP_RECORD_SHAPE)
		given->in_order = 31 * given->in_order + record->shape.id;
	return given->answer;
}

static int add(struct gp_one_pass *pass, const void *record, size_t bytes)
{
	union gp_any_record any = {0};

	memcpy(&any, record, bytes);
	return gp_one_pass_record(pass, &(struct gp_record_view){&any, NULL, 100});
}

#define ADD(pass, type, ...) add(pass, &(struct type){__VA_ARGS__}, sizeof(struct type))

static int add_usage(struct gp_one_pass *pass, uint16_t device, uint64_t ticks, uint64_t free_bytes)
{
	return ADD(pass, gp_record_usage, .kind = GP_RECORD_USAGE, .device_id = device,
		   .ticks = ticks, .free_bytes = free_bytes);
}

static void records_one_by_one_come_to_the_same(void **state)
{
	struct given given = {0};
	struct gp_one_pass *pass = gp_one_pass_new(&(struct gp_record_sink){take, &given});
	struct gp_totals totals;
	uint64_t unknown;

	assert_non_null(pass);
	assert_int_equal(gp_one_pass_drain(pass), 0);
	assert_int_equal(
		ADD(pass, gp_record_kernel, .kind = GP_RECORD_KERNEL, .start_ns = 10, .end_ns = 30),
		0);
	assert_int_equal(given.count, 0); /* summed up, and nobody else's */
	assert_int_equal(add_usage(pass, 1, 50, 500), 0);
	assert_int_equal(add_usage(pass, 0, 60, 600), 0);
	assert_int_equal(add_usage(pass, 1, 40, 400), 0); /* older */
	assert_int_equal(add_usage(pass, 0, 70, 700), 0);
	assert_int_equal(add_usage(pass, GP_DEVICE_LIMIT, 80, 800), 0); /* no device has it */
	assert_int_equal(given.count, 0);
	assert_int_equal(ADD(pass, gp_record_context_end, .kind = GP_RECORD_CONTEXT_END, .id = 3),
			 0);
	assert_int_equal(given.count, 1); /* the loader's, too */
	assert_int_equal(given.last_kind, GP_RECORD_CONTEXT_END);
	assert_int_equal(given.last_thread, 100);
	given.answer = -12;
	assert_int_equal(ADD(pass, gp_record_anchor, .kind = GP_RECORD_ANCHOR), -12);
	assert_int_equal(gp_one_pass_end(pass, &totals, &unknown), 0);
	assert_int_equal(unknown, 0);
	assert_int_equal(totals.sums.count, 1);
	assert_int_equal(totals.sums.sums[0]->histogram.total_ns, 20);
	assert_int_equal(totals.usage_count, 2);
	assert_int_equal(totals.usages[0].free_bytes, 500);
	assert_int_equal(totals.usages[1].free_bytes, 700);
	gp_totals_free(&totals);
	gp_one_pass_free(pass);
}

/*
 * Steps of two threads, whose kernels overlap on two devices; of each step a definition, an
 * allocation and its free.
 */
static void add_step(struct gp_builder *b, uint32_t step)
{
	uint64_t start_ns = 1000000 + step * UINT64_C(1000000);

	gp_builder_chunk(b, 1, 100);
	gp_builder_add(b, &(struct gp_record_shape){.kind = GP_RECORD_SHAPE, .id = 1 + step});
	gp_builder_memory(b, GP_MEMORY_DEVICE, start_ns, 0x1000 + step, 1 << 20);
	for (uint32_t i = 0; i < LAUNCHES; i++)
		gp_builder_call(b, GP_TEST_LAUNCH, step * LAUNCHES + i, start_ns + 1000 * i,
				100 + i % 13);
	gp_builder_memory(b, GP_MEMORY_DEVICE, start_ns + 900000, 0x1000 + step, 0);
	gp_builder_chunk(b, 2, 200);
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		uint64_t ns = start_ns + 1000 * (i ^ 5) + step % 17;

		gp_builder_add(b, &(struct gp_record_kernel){
					  .kind = GP_RECORD_KERNEL,
					  .correlation_id = step * LAUNCHES + i,
					  .name_id = 1 + (step + i) % KERNELS,
					  .device_id = i % 2,
					  .start_ns = GP_TEST_CUPTI(ns),
					  .end_ns = GP_TEST_CUPTI(ns + 700 + step % 900)});
	}
}

static struct gp_totals read_with(const char *path, uint32_t wanted_cores, struct given *given)
{
	const struct gp_record_sink sink = {take, given};
	struct gp_one_pass *pass;
	struct gp_totals totals;
	struct gp_trace *trace;
	struct gp_chunk chunk;
	char message[256] = "";
	uint64_t unknown;

	cores = wanted_cores;
	pass = gp_one_pass_new(&sink);
	assert_non_null(pass);
	assert_int_equal(gp_trace_open(path, &trace, message, sizeof(message)), 0);
	gp_trace_swap_windows(trace, gp_one_pass_swap, pass);
	while (gp_trace_next(trace, &chunk) == 1)
		assert_int_equal(gp_one_pass_chunk(pass, &chunk), 0);
	assert_true(gp_trace_state(trace)->file_bytes > MOST_CORES * GP_TRACE_WINDOW_BYTES);
	assert_int_equal(gp_one_pass_end(pass, &totals, &unknown), 0);
	assert_int_equal(unknown, 0);
	gp_one_pass_free(pass);
	gp_trace_close(trace);
	return totals;
}

static const struct gp_sum *find_sum(const struct gp_totals *totals, uint64_t key)
{
	for (uint32_t i = 0; i < totals->sums.count; i++)
		if (totals->sums.sums[i]->key == key)
			return totals->sums.sums[i];
	fail_msg("a sum is missing");
	return NULL;
}

static void assert_same(const struct gp_totals *a, const struct gp_totals *b)
{
	uint64_t late_ns[2];

	assert_int_equal(a->sums.count, b->sums.count);
	for (uint32_t i = 0; i < a->sums.count; i++)
		assert_memory_equal(&a->sums.sums[i]->histogram,
				    &find_sum(b, a->sums.sums[i]->key)->histogram,
				    sizeof(a->sums.sums[i]->histogram));
	for (uint32_t device = 0; device < 2; device++) {
		assert_int_equal(gp_cover_ns(&a->cover, device, &late_ns[0]),
				 gp_cover_ns(&b->cover, device, &late_ns[1]));
		assert_int_equal(late_ns[0], late_ns[1]);
	}
	assert_int_equal(a->sums.first_ticks, b->sums.first_ticks);
	assert_int_equal(a->sums.last_ticks, b->sums.last_ticks);
}

static void any_number_of_threads_comes_to_the_same(void **state)
{
	struct given by_one = {0};
	struct gp_totals one;
	struct gp_builder b;
	const char *path;

	gp_builder_init(&b);
	gp_builder_start(&b);
	for (uint32_t step = 0; step < STEPS; step++)
		add_step(&b, step);
	path = gp_builder_save(&b);
	one = read_with(path, 1, &by_one);
	assert_int_equal(one.sums.count, KERNELS + 3); /* and launches, allocations, frees */
	assert_true(by_one.count >= STEPS);
	for (uint32_t i = 2; i <= MOST_CORES; i++) {
		struct given given = {0};
		struct gp_totals totals = read_with(path, i, &given);

		assert_same(&one, &totals);
		assert_int_equal(given.count, by_one.count);
		assert_int_equal(given.in_order, by_one.in_order);
		gp_totals_free(&totals);
	}
	gp_totals_free(&one);
	gp_builder_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_one_by_one_come_to_the_same),
		cmocka_unit_test(any_number_of_threads_comes_to_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
