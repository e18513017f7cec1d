/*
 * Fault injection: every system call of the collector fails once, or from some point on always,
 * with several errors.  The process survives, its records are written or counted, and the file is
 * readable.  The same on a disk that is really full.
 */
#include "tests/collector/harness.h"
#include "tests/collector/trace_check.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "collector/atomic.h"
#include "collector/sys.h"

static struct scan scan;

/* ---- calls that fail ---- */

static long (*real_call)(long, long, long, long, long, long, long);
static int (*real_thread)(pthread_t *, void *(*)(void *));

static struct {
	uint32_t first; /* index of the first failing call */
	uint32_t last;
	int error;
	uint32_t calls; /* calls so far */
} plan;

static bool fails_now(void)
{
	uint32_t call = gp_add32(&plan.calls, 1);

	return call >= plan.first && call <= plan.last;
}

static long failing_call(long number, long a, long b, long c, long d, long e, long f)
{
	/*
	 * Not the futex: a failing wait returns early, and would only turn the rest of the run into
	 * a busy loop.  Not the process id: the kernel always reports it.
	 */
	if (number != SYS_futex && number != SYS_getpid && fails_now())
		return plan.error;
	return real_call(number, a, b, c, d, e, f);
}

static int failing_thread(pthread_t *thread, void *(*body)(void *))
{
	return fails_now() ? plan.error : real_thread(thread, body);
}

static void *emit_some(void *unused)
{
	for (uint32_t i = 0; i < 3000; i++)
		emit_call(i);
	gp_emit_info(GP_INFO_NOTE, "from a thread");
	return unused;
}

/* A chunk is dropped if its write fails while the ring is more than half full. */
static void check_trace(void)
{
	CHECK(scan_trace(&scan, gp_collector_trace_path()));
	CHECK(scan.error == NULL || strcmp(scan.error, "records missing") == 0);
}

/* A mixed workload.  Exits with 9 if the plan's first failure was not reached. */
static void run_with_failures(void)
{
	struct gp_collector_config config = {.trace_path = in_folder("t")};
	pthread_t thread;
	int error;

	real_call = gp_sys.call;
	real_thread = gp_sys.thread;
	gp_sys.call = failing_call;
	gp_sys.thread = failing_thread;
	errno = 77;
	error = gp_collector_start(&config);
	CHECK(gp_collector_is_live() == (error == 0));
	CHECK(pthread_create(&thread, NULL, emit_some, NULL) == 0);
	for (uint32_t i = 0; i < (UNDER_TSAN || UNDER_ASAN ? 5000 : 20000); i++)
		emit_call(i);
	gp_collector_request_anchor();
	pthread_join(thread, NULL);
	gp_collector_stop(LONG_NS);
	CHECK(!gp_collector_is_live());
	CHECK(errno == 77);
	if (error == 0)
		check_trace();
	else
		CHECK(strcmp(gp_collector_trace_path(), "") == 0);
	_exit(gp_load32(&plan.calls) <= plan.first ? 9 : 0);
}

/* Returns false if the run makes fewer calls than that. */
static bool survives(uint32_t first, uint32_t last, int error)
{
	int status;
	pid_t child;

	case_folder = new_folder();
	plan.first = first;
	plan.last = last;
	plan.error = error;
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		run_with_failures();
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 9))
		fail_msg("status %#x where calls %u to %u fail with %s", status, first, last,
			 strerror(-error));
	remove_ring_files(child);
	remove_folder(case_folder);
	return WEXITSTATUS(status) == 0;
}

/* Each call with one of the errors by turns; with TESTS_ALL_FAULTS, with each error. */
static void sweep(bool for_good)
{
	static const int errors[] = {-ENOSPC, -EIO, -ENOMEM, -EPERM};
	const uint32_t count = sizeof(errors) / sizeof(errors[0]);
	uint32_t runs = 0;

	for (uint32_t i = 0; i < (getenv("TESTS_ALL_FAULTS") ? count : 1); i++) {
		uint32_t call = 0;

		while (survives(call, for_good ? UINT32_MAX - 1 : call,
				errors[(call + i) % count])) {
			call++;
			runs++;
		}
		assert_true(call > 50);
	}
	printf("%u runs\n", runs);
}

static void each_call_fails_once(void **unused)
{
	(void)unused;
	sweep(false);
}

static void all_calls_fail_from_one_on(void **unused)
{
	(void)unused;
	sweep(true);
}

/* ---- a full disk ---- */

static struct {
	uint64_t calls, lost_bytes, lost[GP_WRITE_CAUSES];
	uint32_t ends;
	char ring_file[256];
} said;

static void take(void *unused, const struct found *found)
{
	const struct any_record *record = found->record;

	(void)unused;
	said.calls += is_kind(found, GP_RECORD_CALL);
	said.ends += is_kind(found, GP_RECORD_END);
	if (is_kind(found, GP_RECORD_COUNTER) &&
	    record->counter.counter == GP_COUNTER_LOST_WRITE_BYTES)
		said.lost_bytes = record->counter.value;
	if (is_kind(found, GP_RECORD_COUNTER))
		for (int i = 0; i < GP_WRITE_CAUSES; i++)
			if (record->counter.counter == gp_write_causes[i])
				said.lost[i] = record->counter.value;
	if (is_kind(found, GP_RECORD_STRING) && record->string.space == GP_STRING_INFO &&
	    record->string.id == GP_INFO_RING_FILE)
		snprintf(said.ring_file, sizeof(said.ring_file), "%.*s",
			 (int)record->string.length_bytes, (const char *)record->text);
}

/*
 * While the writer runs, the file may end in a partial chunk, or become shorter by a chunk that did
 * not fit.
 */
static bool read_growing_trace(void)
{
	memset(&scan, 0, sizeof(scan));
	memset(&said, 0, sizeof(said));
	scan.fn = take;
	return scan_trace(&scan, gp_collector_trace_path());
}

static void read_trace(void)
{
	CHECK(read_growing_trace());
	CHECK(scan.damaged_bytes == 0 && scan.cut_bytes == 0);
}

static const char *filler(void)
{
	return in_folder("filler");
}

/* Fill the disk. */
static void fill_disk(void)
{
	static char zeros[4096];
	FILE *file = fopen(filler(), "w");

	CHECK(file != NULL);
	setvbuf(file, NULL, _IONBF, 0);
	for (size_t size = sizeof(zeros); size > 0; size /= 2)
		while (fwrite(zeros, size, 1, file) == 1)
			;
	fclose(file);
}

/*
 * Every accepted record is in the file or counted under its cause.  The writer's own records and
 * strings may be among the counted ones.
 */
static void check_account(uint64_t kept, int error)
{
	static const int errors[GP_WRITE_CAUSES] = {-ENOSPC, -EDQUOT, -EFBIG, -EIO, -E2BIG};
	uint64_t lost = 0, unwritten;
	int why;

	for (int i = 0; i < GP_WRITE_CAUSES; i++) {
		CHECK(said.lost[i] == 0 || errors[i] == error);
		lost += said.lost[i];
	}
	CHECK(said.calls + lost >= kept && said.calls + lost < kept + 1000);
	unwritten = gp_collector_unwritten(&why);
	CHECK(unwritten == lost && why == error);
}

static void a_full_disk_is_counted_and_forgiven(void)
{
	uint32_t kept = 0;

	start_in(GP_RINGS_SHM);
	emit_call_surely(kept++);
	fill_disk();
	/*
	 * More records than all rings hold: the writer drops the oldest, or else this would never
	 * end.
	 */
	for (; kept < 200000; kept++)
		emit_call_surely(kept * 7919);
	unlink(filler());
	/* With free space, records in the ring and later ones are written. */
	while (gp_emit_info(GP_INFO_NOTE, "space"), !read_growing_trace() || said.lost_bytes == 0)
		gp_sys_sleep(10000000);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	read_trace();
	CHECK(said.ends == 1 && said.lost_bytes > 0);
	CHECK(said.calls > 0 && said.calls < kept);
	check_account(kept, -ENOSPC);
}

static void what_a_full_disk_kept_out_is_in_the_ring_file(void)
{
	uint32_t kept = 0;

	start_in(GP_RINGS_SHM);
	fill_disk();
	for (uint32_t i = 0; i < 10000; i++)
		kept += emit_call(i * 7919);
	CHECK(gp_collector_stop(LONG_NS) == -ENOSPC);
	read_trace();
	CHECK(said.ends == 0);
	CHECK(scan_ring_file(&scan, said.ring_file, gp_collector_trace_path()));
	CHECK(scan.error == NULL);
	unlink(said.ring_file);
	CHECK(said.calls == kept);
}

/* Records in rings in private memory are lost with the process, and the trace counts them. */
static void records_in_private_rings_are_counted(void)
{
	uint32_t kept = 0;

	start_in(GP_RINGS_MEMORY);
	for (; kept < 200000; kept++)
		emit_call_surely(kept * 7919);
	fill_disk();
	for (uint32_t i = 0; i < 10000; i++)
		kept += emit_call(i * 7919);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	read_trace();
	CHECK(said.ends == 1 && said.calls > 0 && said.calls < kept);
	check_account(kept, -ENOSPC);
}

/* ---- a file that may not grow ---- */

static int write_error;
static uint64_t room_bytes;

/* Like the kernel, writes as much as fits, then fails. */
static long limited_call(long number, long a, long b, long c, long d, long e, long f)
{
	struct stat status;

	if (number != SYS_write || real_call(SYS_fstat, a, (long)&status, 0, 0, 0, 0) != 0)
		return real_call(number, a, b, c, d, e, f);
	if ((uint64_t)status.st_size >= room_bytes)
		return write_error;
	if ((uint64_t)c > room_bytes - (uint64_t)status.st_size)
		c = (long)(room_bytes - (uint64_t)status.st_size);
	return real_call(number, a, b, c, d, e, f);
}

static void a_file_that_may_not_grow(void)
{
	uint32_t kept = 0;

	real_call = gp_sys.call;
	gp_sys.call = limited_call;
	start_in(GP_RINGS_MEMORY);
	for (; kept < 300000; kept++)
		emit_call_surely(kept * 7919);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	read_trace();
	CHECK(said.ends == 1 && said.calls > 0 && said.calls < kept);
	check_account(kept, write_error);
}

/* Shared with the child of a case: the size of its trace. */
static uint64_t *trace_bytes;

static void little_room_at_the_end(void)
{
	struct stat status;
	int why;

	real_call = gp_sys.call;
	gp_sys.call = limited_call;
	start_in(GP_RINGS_MEMORY);
	for (uint32_t i = 0; i < 100; i++)
		emit_call_surely(i);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	read_trace();
	CHECK(said.ends == 1);
	check_account(100, gp_collector_unwritten(&why) > 0 ? write_error : 0);
	CHECK(stat(gp_collector_trace_path(), &status) == 0);
	*trace_bytes = (uint64_t)status.st_size;
}

/* Space for all records but not for the counters, or not for the END record after them. */
static void no_end_without_its_counters(void **unused)
{
	uint64_t whole_bytes;

	(void)unused;
	trace_bytes = mmap(NULL, sizeof(*trace_bytes), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(trace_bytes != MAP_FAILED);
	write_error = -EFBIG;
	room_bytes = UINT64_MAX;
	run_case(little_room_at_the_end);
	whole_bytes = *trace_bytes;
	for (uint64_t missing_bytes = 0; missing_bytes < 320; missing_bytes += 8) {
		room_bytes = whole_bytes - missing_bytes;
		run_case(little_room_at_the_end);
	}
	munmap(trace_bytes, sizeof(*trace_bytes));
}

static void each_cause_has_its_counter(void **unused)
{
	static const int errors[] = {-EFBIG, -EDQUOT, -EIO};
	/* space for a few full chunks */
	static const uint64_t rooms[] = {200000, 200001, 300000, 500000};

	(void)unused;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		for (size_t j = 0; j < sizeof(rooms) / sizeof(rooms[0]); j++) {
			write_error = errors[i];
			room_bytes = rooms[j];
			run_case(a_file_that_may_not_grow);
		}
}

/* Mounts a disk of 1 MiB in place of the case's folder. */
static void on_small_disk(void (*body)(void))
{
	CHECK(mount("none", case_folder, "tmpfs", 0, "size=1m") == 0);
	body();
	CHECK(umount(case_folder) == 0);
}

static bool can_mount(void)
{
	const char *folder = new_folder();
	bool can = mount("none", folder, "tmpfs", 0, "size=1m") == 0;

	if (can)
		umount(folder);
	rmdir(folder);
	return can;
}

static void forgiven_case(void)
{
	on_small_disk(a_full_disk_is_counted_and_forgiven);
}

static void recovered_case(void)
{
	on_small_disk(what_a_full_disk_kept_out_is_in_the_ring_file);
}

static void private_case(void)
{
	on_small_disk(records_in_private_rings_are_counted);
}

static void a_full_disk(void **unused)
{
	(void)unused;
	if (!can_mount() || access("/dev/shm", W_OK) != 0)
		skip();
	run_case(forgiven_case);
	run_case(recovered_case);
	run_case(private_case);
}

/* ---- a thread that does not get going ---- */

static sem_t let_go, has_ended;
static void *(*writer_body)(void *);

static void *held_back(void *unused)
{
	sem_wait(&let_go);
	writer_body(unused);
	sem_post(&has_ended);
	return NULL;
}

static int hold_thread(pthread_t *thread, void *(*body)(void *))
{
	writer_body = body;
	return real_thread(thread, held_back);
}

static void a_thread_that_comes_too_late(void)
{
	struct gp_collector_config config = {.trace_path = in_folder("t")};
	uint64_t start_ns;

	sem_init(&let_go, 0, 0);
	sem_init(&has_ended, 0, 0);
	real_thread = gp_sys.thread;
	gp_sys.thread = hold_thread;
	start_ns = gp_sys_now_ns();
	CHECK(gp_collector_start(&config) == -ETIMEDOUT);
	CHECK(gp_sys_now_ns() - start_ns >=
	      GP_START_TIMEOUT_S * 1000000000ull); /* the program gets the error */
	CHECK(!gp_collector_is_live());
	sem_post(&let_go);
	sem_wait(&has_ended);
	CHECK(!gp_collector_is_live());
	CHECK(access(in_folder("t.gpuprof"), F_OK) != 0);
	CHECK(gp_collector_stop(LONG_NS) == 0);
}

static void a_late_thread_is_abandoned(void **unused)
{
	(void)unused;
	run_case(a_thread_that_comes_too_late);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_fails_once),
		cmocka_unit_test(all_calls_fail_from_one_on),
		cmocka_unit_test(a_full_disk),
		cmocka_unit_test(each_cause_has_its_counter),
		cmocka_unit_test(no_end_without_its_counters),
		cmocka_unit_test(a_late_thread_is_abandoned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
