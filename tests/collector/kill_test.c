/*
 * kill: kills a recording process at random instants and reads the rest: it has every record whose
 * gp_emit() returned once, and no record that was never emitted; with rings in private memory, all
 * records up to the writer's last pass, at most 50 ms before.
 *
 * GPUPROF_TEST_KILLS sets the number of kills for each place (default 100; under
 * ThreadSanitizer, which is slow, 50).
 */
#include "tests/collector/harness.h"
#include "tests/collector/trace_check.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "collector/atomic.h"
#include "collector/sys.h"

#define EMITTERS    3u /* calls; kernels and strings; a sequence of short threads */
#define CHURN       2u
#define SHARED_RING 1u
#define LIMIT       4000000u
#define BATCH       64u
#define SHORT_LIFE  20u

/*
 * In memory shared with the parent: the records that each emitter has begun and finished emitting.
 */
struct truth {
	uint64_t begun;
	uint64_t published;
	char other_line[48];
};

static struct truth *truth;
static uint8_t (*seen)[LIMIT];
static uint64_t seen_total[EMITTERS];
static uint64_t after_last[EMITTERS][2]; /* indexed by whether the record was in the shared ring */
static char ring_file[256];
static uint32_t longest_us =
	16000; /* lifetime of a child in us; longer if it emits nothing in that time */

/* ---- the child ---- */

static bool emit_number(uint32_t emitter, uint32_t number)
{
	struct gp_record_kernel kernel = {.kind = GP_RECORD_KERNEL,
					  .slots = 2,
					  .correlation_id = number,
					  .start_ns = number,
					  .end_ns = number + 3ull * number,
					  .channel_id = emitter};
	char text[200];

	if (emitter != 1)
		return emit_call(number + emitter * LIMIT);
	if (number % 5 != 0)
		return gp_emit((const struct gp_record *)&kernel);
	memset(text, (int)('a' + number % 26), sizeof(text));
	return gp_emit_string(GP_STRING_KERNEL, number, 0, text, number % sizeof(text));
}

static void emit_next(uint32_t emitter)
{
	uint64_t number = truth[emitter].begun;

	gp_store64_release(&truth[emitter].begun, number + 1);
	while (!emit_number(emitter, (uint32_t)number))
		;
	gp_store64_release(&truth[emitter].published, number + 1);
}

static void rest(void)
{
	for (int i = 0; i < 300; i++)
		gp_pause();
}

static void *emit_for_ever(void *emitter)
{
	while (truth[(uintptr_t)emitter].begun < LIMIT) {
		for (uint32_t i = 0; i < BATCH; i++)
			emit_next((uint32_t)(uintptr_t)emitter);
		rest();
	}
	return NULL;
}

static void *live_shortly(void *unused)
{
	for (uint32_t i = 0; i < SHORT_LIFE; i++)
		emit_next(CHURN);
	return unused;
}

static void record_until_killed(enum gp_ring_place place)
{
	struct gp_collector_config config = {.trace_path = in_folder("t"), .ring_place = place};
	pthread_t threads[2], brief;

	CHECK(gp_collector_start(&config) == 0);
	for (uintptr_t i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], NULL, emit_for_ever, (void *)i) == 0);
	while (truth[CHURN].begun + SHORT_LIFE < LIMIT) {
		CHECK(pthread_create(&brief, NULL, live_shortly, NULL) == 0);
		pthread_join(brief, NULL);
	}
	pause();
}

/* ---- the parent ---- */

/*
 * An emitter's records are contiguous in one ring, except for those in the shared ring before it
 * had its own.
 */
static void check_order(uint32_t emitter, uint64_t number, bool shared)
{
	uint64_t *next = &after_last[emitter][shared];

	if (shared ? number < *next : *next != 0 && number != *next)
		fail_msg("record %llu of %u after %llu", (unsigned long long)number, emitter,
			 (unsigned long long)*next - 1);
	*next = number + 1;
}

static void note(uint32_t emitter, uint64_t number, uint32_t ring)
{
	assert_true(number < LIMIT);
	if (number >= truth[emitter].begun)
		fail_msg("record %llu of %u was never emitted", (unsigned long long)number,
			 emitter);
	if (seen[emitter][number]++ != 0)
		fail_msg("record %llu of %u twice", (unsigned long long)number, emitter);
	seen_total[emitter]++;
	if (emitter != CHURN)
		check_order(emitter, number, ring == SHARED_RING);
}

static void check_string(const struct found *found)
{
	const struct gp_record_string *string = &found->record->string;

	assert_int_equal(string->length_bytes, string->id % 200);
	for (uint32_t i = 0; i < string->length_bytes; i++)
		assert_int_equal(found->record->text[i], 'a' + string->id % 26);
}

static void take_name(const struct any_record *record)
{
	if (record->string.space == GP_STRING_INFO && record->string.id == GP_INFO_RING_FILE)
		snprintf(ring_file, sizeof(ring_file), "%.*s", (int)record->string.length_bytes,
			 (const char *)record->text);
}

static void take(void *unused, const struct found *found)
{
	const struct any_record *record = found->record;

	(void)unused;
	if (is_kind(found, GP_RECORD_CALL)) {
		note(record->call.correlation_id / LIMIT, record->call.correlation_id % LIMIT,
		     found->ring);
	} else if (is_kind(found, GP_RECORD_KERNEL)) {
		assert_int_equal(record->kernel.end_ns, 4ull * record->kernel.start_ns);
		assert_int_equal(record->kernel.channel_id, 1);
		note(1, record->kernel.correlation_id, found->ring);
	} else if (is_kind(found, GP_RECORD_STRING)) {
		if (record->string.space == GP_STRING_KERNEL) {
			check_string(found);
			note(1, record->string.id, found->ring);
		} else {
			take_name(record);
		}
	}
	assert_false(is_kind(found, GP_RECORD_END));
}

static void check_complete(void)
{
	for (uint32_t i = 0; i < EMITTERS; i++)
		for (uint64_t number = 0; number < truth[i].published; number++)
			if (seen[i][number] != 1)
				fail_msg("record %llu of %u is missing", (unsigned long long)number,
					 i);
}

/*
 * Lock the trace during the check: another gpuprof on this machine may find the ring file and save
 * its records.
 */
static int lock_trace(void)
{
	int fd = open(in_folder("t.gpuprof"), O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		assert_int_equal(flock(fd, LOCK_EX), 0);
	return fd;
}

static bool is_gone(const char *path)
{
	return access(path, F_OK) != 0;
}

static void read_remains(enum gp_ring_place place, struct scan *scan)
{
	scan->fn = take;
	ring_file[0] = '\0';
	if (!scan_trace(scan, in_folder("t.gpuprof"))) {
		assert_int_equal(truth[0].published + truth[1].published, 0);
		return;
	}
	if (ring_file[0] != '\0') {
		assert_int_not_equal(place, GP_RINGS_MEMORY);
		assert_true(is_gone(ring_file) ||
			    scan_ring_file(scan, ring_file, in_folder("t.gpuprof")));
	} else if (place ==
		   GP_RINGS_FILE) { /* other processes may use the whole quota of /dev/shm */
		assert_int_equal(scan->chunks, 0);
	}
	if (scan->error != NULL)
		fail_msg("%s", scan->error);
	assert_int_equal(scan->damaged_bytes, 0); /* the trace ends in a partial chunk */
	if (ring_file[0] != '\0')
		check_complete();
}

static void clear(void)
{
	for (uint32_t i = 0; i < EMITTERS; i++) {
		memset(seen[i], 0, truth[i].begun);
		truth[i].begun = truth[i].published = 0;
		seen_total[i] = after_last[i][0] = after_last[i][1] = 0;
	}
}

static uint32_t kill_once(enum gp_ring_place place, struct scan *scan)
{
	uint32_t us = (uint32_t)rand() % longest_us;
	pid_t child;
	int lock, status;

	memset(scan, 0, sizeof(*scan));
	case_folder = new_folder();
	clear();
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		die_in(us);
		record_until_killed(place);
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	lock = lock_trace();
	read_remains(place, scan);
	if (lock >= 0)
		close(lock);
	/* killed between the creation of the ring file and the first chunk, no trace names it */
	remove_ring_files(child);
	remove_folder(case_folder);
	return scan->cut_bytes > 0;
}

static void kill_many(enum gp_ring_place place, const char *name)
{
	static struct scan scan;
	const char *wanted = getenv("GPUPROF_TEST_KILLS");
	uint32_t kills = wanted != NULL             ? (uint32_t)atoi(wanted)
			 : UNDER_TSAN || UNDER_ASAN ? 50
						    : 100;
	uint64_t records = 0, behind = 0, before = 0;
	uint32_t torn = 0;

	for (uint32_t i = 0; i < kills; i++) {
		torn += kill_once(place, &scan);
		for (uint32_t e = 0; e < EMITTERS; e++) {
			records += seen_total[e];
			behind += truth[e].published > seen_total[e]
					  ? truth[e].published - seen_total[e]
					  : 0;
		}
		if (i % 5 == 4 && records == before) /* a slow or busy machine: allow more time */
			longest_us *= 2;
		if (i % 5 == 4)
			before = records;
	}
	printf("%s: %u kills, %llu records read, %llu lost, %u traces with a torn end\n", name,
	       kills, (unsigned long long)records, (unsigned long long)behind, torn);
	assert_true(kills < 10 || records > 0);
}

static void rings_in_shm(void **unused)
{
	(void)unused;
	kill_many(GP_RINGS_SHM, "rings in /dev/shm");
}

static void rings_in_a_file(void **unused)
{
	(void)unused;
	kill_many(GP_RINGS_FILE, "rings in a file");
}

static void rings_in_memory(void **unused)
{
	(void)unused;
	kill_many(GP_RINGS_MEMORY, "rings in memory");
}

/*
 * Whether this machine supports rings in this place: a container may lack /dev/shm, or have its
 * files on another file system.
 */
static bool place_works(enum gp_ring_place place)
{
	struct gp_collector_config config;
	int status;
	pid_t child;

	case_folder = new_folder();
	child = fork();
	if (child == 0) {
		config = (struct gp_collector_config){.trace_path = in_folder("t"),
						      .ring_place = place};
		_exit(gp_collector_start(&config) == 0 && gp_collector_stop(LONG_NS) == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	remove_folder(case_folder);
	return status == 0;
}

/*
 * ---- records that rings in memory hold back, counted in the writer's passes instead of time ----
 */

#define MOST_WAIT_NS 50000000
#define PASSES       40u

static struct observed {
	pid_t child;
	uint32_t count;   /* atomic; number of the writer's waits */
	uint64_t emitted; /* atomic */
	uint64_t at_last_pass, at_previous_pass;
	int64_t longest_ns; /* the longest timeout of a wait */
} * observed;

static long (*real_call)(long, long, long, long, long, long, long);

/*
 * The writer makes all calls except those of its starting thread.  The kill comes at the last one,
 * right before the writer's next pass.
 */
static long observe(long number, long a, long b, long c, long d, long e, long f)
{
	const struct timespec *wait = (const struct timespec *)d;
	long result = real_call(number, a, b, c, d, e, f);

	if (number != SYS_futex || wait == NULL || b != FUTEX_WAIT_PRIVATE ||
	    syscall(SYS_gettid) == observed->child)
		return result;
	if (wait->tv_sec * 1000000000 + wait->tv_nsec > observed->longest_ns)
		observed->longest_ns = wait->tv_sec * 1000000000 + wait->tv_nsec;
	observed->at_previous_pass = observed->at_last_pass;
	observed->at_last_pass = gp_load64(&observed->emitted);
	if (gp_add32(&observed->count, 1) + 1 >= PASSES)
		raise(SIGKILL);
	return result;
}

/* Emits some records between two passes, and sometimes none, so that the writer sleeps long. */
static void emit_between_passes(void)
{
	uint64_t number = 0;

	observed->child = getpid();
	real_call = gp_sys.call;
	gp_sys.call = observe;
	start_in(GP_RINGS_MEMORY);
	for (;;) {
		uint32_t count = gp_load32(&observed->count);

		for (uint32_t i = 0; count % 8 < 5 && i < 100; i++) {
			emit_call_surely((uint32_t)number++);
			gp_store64_release(&observed->emitted, number);
		}
		while (gp_load32(&observed->count) == count)
			sched_yield();
	}
}

/* Runs a child, which observes the writer until it is killed. */
static void run_until_killed(void (*run)(void))
{
	int status;
	pid_t child;

	memset(observed, 0, sizeof(*observed));
	case_folder = new_folder();
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		run();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void count_calls(void *calls, const struct found *found)
{
	*(uint64_t *)calls += is_kind(found, GP_RECORD_CALL);
}

static void rings_in_memory_are_drained_in_time(void **unused)
{
	static struct scan scan;
	uint64_t calls = 0;

	(void)unused;
	run_until_killed(emit_between_passes);
	scan.fn = count_calls;
	scan.context = &calls;
	assert_true(scan_trace(&scan, in_folder("t.gpuprof")));
	remove_folder(case_folder);
	printf("rings in memory: %llu records emitted, %llu at the previous pass, %llu read\n",
	       (unsigned long long)observed->emitted,
	       (unsigned long long)observed->at_previous_pass, (unsigned long long)calls);
	assert_true(calls >= observed->at_previous_pass && calls <= observed->emitted + 1);
	assert_true(observed->at_previous_pass > 10 * 100);
	assert_in_range(observed->longest_ns, 1, MOST_WAIT_NS);
}

/* After two more passes the writer has seen the record. */
static void count_and_die(void)
{
	uint32_t count;

	observed->child = getpid();
	real_call = gp_sys.call;
	gp_sys.call = observe;
	start_in(GP_RINGS_FILE);
	gp_count(GP_COUNTER_LOST_NESTED, 3);
	count = gp_load32(&observed->count);
	while (gp_load32(&observed->count) < count + 2)
		sched_yield();
	raise(SIGKILL);
}

static void take_ring_file(void *unused, const struct found *found)
{
	(void)unused;
	if (is_kind(found, GP_RECORD_STRING))
		take_name(found->record);
}

static void counters_outlive_the_process(void **unused)
{
	static struct scan scan;
	struct gp_ring_header first;
	int fd;

	(void)unused;
	run_until_killed(count_and_die);
	scan.fn = take_ring_file;
	assert_true(scan_trace(&scan, in_folder("t.gpuprof")));
	fd = open(ring_file, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &first, sizeof(first), GP_RING_HEADER_BYTES), sizeof(first));
	close(fd);
	assert_int_equal(first.counters[GP_COUNTER_LOST_NESTED], 3);
	remove_folder(case_folder);
}

int main(void)
{
	struct CMUnitTest tests[5];
	size_t count = 0;

	truth = mmap(NULL, EMITTERS * sizeof(*truth), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	seen = calloc(EMITTERS, sizeof(*seen));
	observed = mmap(NULL, sizeof(*observed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (truth == MAP_FAILED || seen == NULL || observed == MAP_FAILED)
		return 1;
	srand((unsigned)time(NULL));
	if (place_works(GP_RINGS_SHM))
		tests[count++] = (struct CMUnitTest)cmocka_unit_test(rings_in_shm);
	if (place_works(GP_RINGS_FILE)) {
		tests[count++] = (struct CMUnitTest)cmocka_unit_test(rings_in_a_file);
		tests[count++] = (struct CMUnitTest)cmocka_unit_test(counters_outlive_the_process);
	}
	tests[count++] = (struct CMUnitTest)cmocka_unit_test(rings_in_memory);
	tests[count++] = (struct CMUnitTest)cmocka_unit_test(rings_in_memory_are_drained_in_time);
	return _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
}
