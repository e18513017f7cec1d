/*
 * collector: the whole collector through its facade: emitted records are in the trace, and the
 * program is unaffected.
 */
#include "tests/collector/harness.h"
#include "tests/collector/trace_check.h"
#include "tests/lib/sleeping.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "collector/atomic.h"
#include "collector/sys.h"

static struct scan scan;

/* Expected and found facts about the process. */
static struct {
	uint64_t calls[8]; /* by the low bits of their number */
	uint32_t next_call;
	bool in_order;
	uint64_t infos; /* bit per GP_INFO */
	uint64_t counters[GP_COUNTERS];
	uint32_t anchors, ends, long_names;
	uint8_t end_way, end_status;
	char thread_name[32]; /* of the process's first thread */
	char ring_file[256];
} said;

static void take_string(const struct found *found)
{
	const struct gp_record_string *string = as_string(found);
	const char *text = (const char *)found->record->text;

	if (string->space == GP_STRING_INFO)
		said.infos |= 1ull << string->id;
	if (string->space == GP_STRING_INFO && string->id == GP_INFO_RING_FILE)
		snprintf(said.ring_file, sizeof(said.ring_file), "%.*s", (int)string->length_bytes,
			 text);
	if (string->space == GP_STRING_THREAD && string->id == (uint32_t)getpid())
		snprintf(said.thread_name, sizeof(said.thread_name), "%.*s",
			 (int)string->length_bytes, text);
	if (string->space == GP_STRING_KERNEL) {
		said.long_names += string->length_bytes == GP_STRING_MAX_BYTES;
		for (uint32_t i = 0; i < string->length_bytes; i++)
			CHECK(text[i] == (char)('a' + i % 26));
	}
}

static void take(void *unused, const struct found *found)
{
	const struct any_record *record = found->record;

	(void)unused;
	switch (record->record.kind) {
	case GP_RECORD_CALL:
		said.calls[record->call.correlation_id % 8]++;
		said.in_order &= record->call.correlation_id == said.next_call++;
		CHECK(found->thread != 0);
		break;
	case GP_RECORD_STRING:
		take_string(found);
		break;
	case GP_RECORD_COUNTER:
		CHECK(record->counter.value >= said.counters[record->counter.counter]);
		said.counters[record->counter.counter] = record->counter.value;
		break;
	case GP_RECORD_ANCHOR:
		CHECK(said.ends == 0 && found->ring == 0);
		said.anchors++;
		break;
	case GP_RECORD_END:
		said.ends++;
		said.end_way = record->end.way;
		said.end_status = record->end.status;
		break;
	default:
		break;
	}
}

/* While the writer runs, the file may end in a partial chunk. */
static void read_growing_trace(void)
{
	memset(&scan, 0, sizeof(scan));
	memset(&said, 0, sizeof(said));
	said.in_order = true;
	scan.fn = take;
	CHECK(scan_trace(&scan, gp_collector_trace_path()));
	if (scan.error != NULL)
		fprintf(stderr, "%s\n", scan.error);
	CHECK(scan.error == NULL);
	CHECK(scan.damaged_bytes == 0);
}

static void read_trace(void)
{
	read_growing_trace();
	CHECK(scan.cut_bytes == 0);
}

static void stop_and_read(void)
{
	CHECK(gp_collector_stop(LONG_NS) == 0);
	read_trace();
	CHECK(said.ends == 1);
}

static void everything_emitted_is_in_the_trace(void)
{
	static char name[GP_STRING_MAX_BYTES + 100];
	uint32_t cut;

	for (size_t i = 0; i < sizeof(name); i++)
		name[i] = (char)('a' + i % 26);
	start_in(GP_RINGS_AUTO);
	for (uint32_t i = 0; i < 300000; i++)
		emit_call_surely(i);
	for (uint32_t length = 0; length < GP_STRING_MAX_BYTES; length += 997)
		emit_kernel_name_surely(length, name, length);
	cut = emit_kernel_name_surely(1, name, sizeof(name));
	while (!gp_emit_info(GP_INFO_NOTE, "a note"))
		;
	stop_and_read();
	CHECK(said.next_call == 300000 && said.in_order);
	CHECK(said.long_names == 1 && said.counters[GP_COUNTER_CUT_STRINGS] == cut);
	CHECK(said.infos >> GP_INFO_NOTE & 1);
}

static void the_trace_names_its_process(void)
{
	static const enum gp_info facts[] = {
		GP_INFO_PROGRAM,    GP_INFO_COMMAND, GP_INFO_PID,     GP_INFO_PARENT_PID,
		GP_INFO_HOST,       GP_INFO_VERSION, GP_INFO_BOOT_ID, GP_INFO_TICKS_PER_SECOND,
		GP_INFO_START_TIME, GP_INFO_CLOCK,   GP_INFO_RANK,    GP_INFO_DIRECTORY,
		GP_INFO_SESSION,
	};

	setenv("RANK", "3", 1);
	start_in(GP_RINGS_AUTO);
	read_growing_trace(); /* immediately after the start */
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		CHECK(said.infos >> facts[i] & 1);
	CHECK(said.anchors >= 1 && said.ends == 0);
	CHECK(strcmp(gp_collector_trace_path(), in_folder("t.gpuprof")) == 0);
	CHECK(said.ring_file[0] == '\0' || access(said.ring_file, F_OK) == 0);
	stop_and_read();
	CHECK(said.anchors >= 2);
	CHECK(said.ring_file[0] == '\0' || access(said.ring_file, F_OK) != 0);
}

/* As gpuprof detach and another attach do. */
static void another_recording_follows_a_release(void)
{
	uint32_t first;

	start_in(GP_RINGS_AUTO);
	first = gp_collector_recording();
	for (uint32_t i = 0; i < 1000; i++)
		emit_call_surely(i);
	gp_count(GP_COUNTER_BUFFER_WAITS, 7);
	stop_and_read();
	CHECK(said.next_call == 1000 && said.in_order);
	CHECK(said.counters[GP_COUNTER_BUFFER_WAITS] == 7);
	gp_collector_release();
	CHECK(!emit_call(0));
	start_in(GP_RINGS_AUTO);
	CHECK(gp_collector_recording() != first);
	for (uint32_t i = 0; i < 500; i++)
		emit_call_surely(i);
	stop_and_read();
	CHECK(strcmp(gp_collector_trace_path(), in_folder("t.2.gpuprof")) == 0);
	CHECK(said.next_call == 500 && said.in_order);
	CHECK(said.counters[GP_COUNTER_BUFFER_WAITS] == 0);
}

static void nothing_happens_outside_start_and_stop(void)
{
	CHECK(!gp_collector_is_live());
	CHECK(!emit_call(0));
	CHECK(!gp_emit_info(GP_INFO_NOTE, "early"));
	gp_count_hook(1);
	gp_count_nested();
	gp_collector_request_anchor();
	CHECK(strcmp(gp_collector_trace_path(), "") == 0);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	start_in(GP_RINGS_AUTO);
	CHECK(gp_collector_is_live());
	CHECK(emit_call(0));
	stop_and_read();
	CHECK(!gp_collector_is_live());
	CHECK(!emit_call(1));
	CHECK(gp_collector_stop(LONG_NS) == 0);
	CHECK(gp_collector_start(&(struct gp_collector_config){.trace_path = in_folder("u")}) ==
	      -EEXIST);
	read_trace();
	CHECK(said.next_call == 1);
}

static void a_start_that_fails_leaves_nothing(void)
{
	struct gp_collector_config config = {.trace_path = in_folder("no/such/folder")};

	CHECK(gp_collector_start(&config) == -ENOENT);
	CHECK(strcmp(gp_collector_trace_path(), "") == 0);
	CHECK(!emit_call(0));
	CHECK(gp_collector_stop(LONG_NS) == 0);
}

static void errno_is_kept(void)
{
	errno = 12345;
	emit_call(0);
	start_in(GP_RINGS_AUTO);
	for (uint32_t i = 0; i < 200000; i++) {
		emit_call(i);
		CHECK(errno == 12345);
	}
	gp_emit_info(GP_INFO_NOTE, "note");
	gp_clock_ticks();
	gp_collector_request_anchor();
	CHECK(gp_collector_stop(LONG_NS) == 0);
	CHECK(errno == 12345);
}

static uint32_t open_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	uint32_t count = 0;

	while (readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count;
}

static void *emit_one(void *number)
{
	CHECK(emit_call((uint32_t)(uintptr_t)number));
	return NULL;
}

static void no_descriptor_stays_open(void)
{
	uint32_t before = open_descriptors();

	start_in(GP_RINGS_AUTO);
	for (uint32_t i = 0; i < 100000; i++)
		emit_call_surely(i);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	CHECK(open_descriptors() == before);
}

static void counters_are_summed(void)
{
	pthread_t thread;

	start_in(GP_RINGS_MEMORY);
	gp_count(GP_COUNTER_GPU_RECORDS, 5);
	gp_count(GP_COUNTER_GPU_RECORDS, 6);
	gp_count_set(GP_COUNTER_LAST_DELIVERY_TICKS, 100);
	gp_count_set(GP_COUNTER_LAST_DELIVERY_TICKS, 200);
	gp_count_hook(0); /* this thread has no ring yet */
	CHECK(emit_call(0));
	gp_count_hook(70);
	gp_count_hook(0);
	gp_count_nested();
	CHECK(pthread_create(&thread, NULL, emit_one, (void *)1) == 0);
	pthread_join(thread, NULL);
	stop_and_read();
	CHECK(said.counters[GP_COUNTER_GPU_RECORDS] == 11);
	CHECK(said.counters[GP_COUNTER_LAST_DELIVERY_TICKS] == 200);
	CHECK(said.counters[GP_COUNTER_HOOKS] == 3);
	CHECK(said.counters[GP_COUNTER_HOOKS_SAMPLED] == 1);
	CHECK(said.counters[GP_COUNTER_HOOKS_SAMPLED_TICKS] == 70);
	CHECK(said.counters[GP_COUNTER_NESTED_CALLBACKS] == 1);
	CHECK(said.counters[GP_COUNTER_CHUNKS] > 0);
	CHECK(said.counters[GP_COUNTER_LOST_CUPTI] == 0);
}

static void a_late_thread_name_is_found_at_the_end(void)
{
	start_in(GP_RINGS_AUTO);
	prctl(PR_SET_NAME, "early");
	CHECK(emit_call(0));
	prctl(PR_SET_NAME, "late");
	stop_and_read();
	CHECK(strcmp(said.thread_name, "late") == 0);
}

static uint32_t cupti_reads;

static uint64_t read_cupti(void)
{
	__atomic_fetch_add(&cupti_reads, 1, __ATOMIC_SEQ_CST);
	return 1000;
}

static void an_anchor_comes_on_request(void)
{
	start_in(GP_RINGS_AUTO);
	gp_clock_set_cupti(read_cupti);
	gp_collector_request_anchor();
	while (__atomic_load_n(&cupti_reads, __ATOMIC_SEQ_CST) == 0)
		sched_yield();
	gp_clock_set_cupti(NULL);
	stop_and_read();
	CHECK(said.anchors >= 3);
}

static void the_end_has_the_status(void)
{
	gp_collector_ends(GP_END_EXEC, 0); /* no effect: the collector is not live */
	start_in(GP_RINGS_AUTO);
	gp_collector_ends(GP_END_EXEC, 0);
	gp_collector_ends(GP_END_STATUS, 3);
	stop_and_read();
	CHECK(said.end_way == GP_END_STATUS && said.end_status == 3);
}

static void the_end_may_lack_the_status(void)
{
	start_in(GP_RINGS_AUTO);
	stop_and_read();
	CHECK(said.end_way == GP_END_UNKNOWN && said.end_status == 0);
}

/* ---- a writer that does not move ---- */

static uint32_t held, sleeps;
static long (*real_call)(long, long, long, long, long, long, long);

/* Writes to files wait while `held` is set, as on a stuck disk. */
static long held_writes(long number, long a, long b, long c, long d, long e, long f)
{
	while (number == SYS_write && gp_load32_acquire(&held))
		sched_yield();
	gp_add32(&sleeps, is_sleep(number, a, b));
	return real_call(number, a, b, c, d, e, f);
}

static void hold_writes(void)
{
	real_call = gp_sys.call;
	gp_sys.call = held_writes;
	gp_store32_release(&held, 1);
}

static void a_stuck_disk_costs_one_wait(void)
{
	uint32_t kept = 0, lost = 0, slept;

	hold_writes();
	gp_store32_release(&held, 0);
	start_in(GP_RINGS_AUTO);
	gp_store32_release(&held, 1);
	while (lost == 0)
		emit_call(kept) ? kept++ : lost++;
	slept = gp_load32(&sleeps);
	for (; lost < 1000; lost++)
		CHECK(!emit_call(0));
	CHECK(slept > 0 && gp_load32(&sleeps) == slept); /* the emitting thread did not wait */
	gp_store32_release(&held, 0);
	while (!emit_call(kept))
		lost++;
	stop_and_read();
	CHECK(said.next_call == kept + 1 && said.in_order);
	CHECK(said.counters[GP_COUNTER_LOST_RING_FULL] == lost);
	CHECK(said.counters[GP_COUNTER_RING_WAITS] >= 1);
}

static void stop_does_not_wait_for_ever(void)
{
	struct gp_collector_config config = {.trace_path = in_folder("t"),
					     .ring_place = GP_RINGS_FILE};

	real_call = gp_sys.call;
	gp_sys.call = held_writes;
	CHECK(gp_collector_start(&config) == 0);
	read_growing_trace();
	gp_store32_release(&held, 1);
	CHECK(emit_call(0));
	CHECK(gp_collector_stop(1000000) == -ETIMEDOUT);
	CHECK(access(said.ring_file, F_OK) == 0); /* for recovery */
	CHECK(scan_ring_file(&scan, said.ring_file, gp_collector_trace_path()));
	CHECK(said.next_call == 1);
}

static void a_program_may_overwrite_a_ring(void)
{
	start_in(GP_RINGS_MEMORY);
	gp_store32_release(&held, 0);
	CHECK(emit_call(0));
	/* A record of kind 0 among other records: the rest of the ring is unreadable. */
	CHECK(gp_emit((const struct gp_record *)&(struct gp_record_call){.kind = 0, .slots = 1}));
	CHECK(emit_call(1));
	CHECK(gp_collector_stop(LONG_NS) == 0);
	memset(&scan, 0, sizeof(scan));
	memset(&said, 0, sizeof(said));
	scan.fn = take;
	CHECK(scan_trace(&scan, gp_collector_trace_path()));
	CHECK(said.counters[GP_COUNTER_DAMAGED_SLOTS] >= 1);
	CHECK(said.ends == 1);
}

static void signals_stay_the_programs(void)
{
	sigset_t set, pending;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	start_in(GP_RINGS_AUTO);
	kill(getpid(), SIGTERM);
	for (uint32_t i = 0; i < 100000; i++)
		emit_call(i);
	sigpending(&pending);
	CHECK(sigismember(&pending, SIGTERM));
	CHECK(gp_collector_stop(LONG_NS) == 0);
}

static void a_file_size_limit_kills_nobody(void)
{
	struct rlimit limit = {20000, 20000};
	int stopped;

	signal(SIGXFSZ, SIG_DFL);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	start_in(GP_RINGS_AUTO);
	for (uint32_t i = 0; i < 200000; i++)
		emit_call(i * i);
	stopped = gp_collector_stop(LONG_NS);
	memset(&scan, 0, sizeof(scan));
	memset(&said, 0, sizeof(said));
	scan.fn = take;
	CHECK(scan_trace(&scan, gp_collector_trace_path()));
	CHECK(scan.damaged_bytes == 0);
	/* Lost records are counted, or the trace has no END record. */
	CHECK(said.counters[GP_COUNTER_LOST_WRITE_BYTES] > 0 ||
	      (stopped == -EFBIG && said.ends == 0));
}

#define CASE(name)                                                                                 \
	static void test_##name(void **unused)                                                     \
	{                                                                                          \
		(void)unused;                                                                      \
		run_case(name);                                                                    \
	}
#define CASES(X)                                                                                   \
	X(everything_emitted_is_in_the_trace)                                                      \
	X(the_trace_names_its_process)                                                             \
	X(another_recording_follows_a_release)                                                     \
	X(nothing_happens_outside_start_and_stop)                                                  \
	X(a_start_that_fails_leaves_nothing)                                                       \
	X(errno_is_kept)                                                                           \
	X(no_descriptor_stays_open)                                                                \
	X(counters_are_summed)                                                                     \
	X(a_late_thread_name_is_found_at_the_end)                                                  \
	X(an_anchor_comes_on_request)                                                              \
	X(the_end_has_the_status)                                                                  \
	X(the_end_may_lack_the_status)                                                             \
	X(a_stuck_disk_costs_one_wait)                                                             \
	X(stop_does_not_wait_for_ever)                                                             \
	X(a_program_may_overwrite_a_ring)                                                          \
	X(signals_stay_the_programs)                                                               \
	X(a_file_size_limit_kills_nobody)
CASES(CASE)

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ROW(name) cmocka_unit_test(test_##name),
		CASES(ROW)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
