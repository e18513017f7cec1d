/*
 * limit: a trace with a maximum size ends there in an orderly way, and later records are counted.
 */
#include "tests/collector/harness.h"
#include "tests/collector/trace_check.h"

#include <pthread.h>
#include <sys/stat.h>

#include "collector/sys.h"
#include "gpuprof/counter.h"

#define LIMIT_BYTES (1u << 20)

static struct scan scan;

static struct {
	uint64_t calls, lost, gates, ends;
} said;

static void take(void *unused, const struct found *found)
{
	const struct any_record *record = found->record;

	(void)unused;
	said.calls += is_kind(found, GP_RECORD_CALL);
	said.ends += is_kind(found, GP_RECORD_END);
	said.gates += is_kind(found, GP_RECORD_GATE) && record->gate.reason == GP_GATE_FULL &&
		      !record->gate.on;
	if (is_kind(found, GP_RECORD_COUNTER) &&
	    record->counter.counter == GP_COUNTER_LOST_MAX_FILE)
		said.lost = record->counter.value;
}

static void read_trace(void)
{
	memset(&scan, 0, sizeof(scan));
	memset(&said, 0, sizeof(said));
	scan.fn = take;
	CHECK(scan_trace(&scan, gp_collector_trace_path()));
	CHECK(scan.error == NULL && scan.damaged_bytes + scan.cut_bytes == 0);
}

static uint64_t trace_bytes(void)
{
	struct stat status;

	CHECK(stat(gp_collector_trace_path(), &status) == 0);
	return (uint64_t)status.st_size;
}

static void start_limited(enum gp_ring_place place)
{
	struct gp_collector_config config = {
		.trace_path = in_folder("t"), .ring_place = place, .max_file_bytes = LIMIT_BYTES};

	CHECK(gp_collector_start(&config) == 0);
}

static void check_end(uint64_t kept)
{
	int why;

	CHECK(trace_bytes() <= LIMIT_BYTES && trace_bytes() > LIMIT_BYTES / 2);
	CHECK(said.ends == 1 && said.gates == 1);
	CHECK(said.lost > 0 && said.calls + said.lost == kept);
	CHECK(gp_collector_unwritten(&why) == said.lost && why == -E2BIG);
}

static void the_trace_ends_in_order(enum gp_ring_place place)
{
	uint64_t kept = 0;

	start_limited(place);
	CHECK(!gp_collector_is_full());
	for (; kept < 400000; kept++)
		emit_call_surely((uint32_t)kept * 7919);
	while (!gp_collector_is_full())
		gp_sys_sleep(1000000);
	read_trace();
	CHECK(said.gates == 1 && said.ends == 0);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	CHECK(!gp_collector_is_full());
	read_trace();
	check_end(kept);
}

static void with_rings_in_a_file(void)
{
	the_trace_ends_in_order(GP_RINGS_AUTO);
}

static void with_rings_in_memory(void)
{
	the_trace_ends_in_order(GP_RINGS_MEMORY);
}

/* The collector stops before the writer's next pass. */
static void a_limit_that_the_last_records_reach(void)
{
	uint64_t kept = 0;

	start_limited(GP_RINGS_AUTO);
	for (; kept < 400000; kept++)
		emit_call_surely((uint32_t)kept * 7919);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	read_trace();
	check_end(kept);
}

#define THREADS 8u
#define EACH    100000u

static void *emit_each(void *unused)
{
	for (uint32_t i = 0; i < EACH; i++)
		emit_call_surely(i * 7919);
	return unused;
}

/* The records in all rings are counted.  Threads do not wait for later records. */
static void many_threads(void)
{
	pthread_t threads[THREADS];

	start_limited(GP_RINGS_AUTO);
	for (uint32_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, emit_each, NULL) == 0);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	read_trace();
	CHECK(trace_bytes() <= LIMIT_BYTES);
	CHECK(said.ends == 1 && said.gates == 1);
	/* the lost records may include thread names */
	CHECK(said.calls + said.lost >= THREADS * EACH &&
	      said.calls + said.lost <= THREADS * EACH + 2 * THREADS);
}

/* A limit that is not reached has no effect. */
static void below_the_limit_nothing_is_lost(void)
{
	start_limited(GP_RINGS_AUTO);
	for (uint32_t i = 0; i < 1000; i++)
		emit_call_surely(i);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	read_trace();
	CHECK(said.calls == 1000 && said.lost == 0 && said.gates == 0 && said.ends == 1);
}

#define CASE(name)                                                                                 \
	static void test_##name(void **unused)                                                     \
	{                                                                                          \
		(void)unused;                                                                      \
		run_case(name);                                                                    \
	}
CASE(with_rings_in_a_file)
CASE(with_rings_in_memory)
CASE(a_limit_that_the_last_records_reach)
CASE(many_threads)
CASE(below_the_limit_nothing_is_lost)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_with_rings_in_a_file),
		cmocka_unit_test(test_with_rings_in_memory),
		cmocka_unit_test(test_a_limit_that_the_last_records_reach),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_below_the_limit_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
