/*
 * fork: children of a profiled process, created in any way, have no collector and do not harm their
 * parent's.
 */
#include "tests/collector/harness.h"
#include "tests/collector/trace_check.h"

#include <sys/auxv.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/ucontext.h>
#include <sys/syscall.h>

#include "collector/atomic.h"
#include "collector/process_identity.h"
#include "collector/process_state.h"
#include "collector/sys.h"
#include "gpuprof/count.h"
#include "tests/lib/emulated.h"

static struct scan scan;

static struct {
	uint64_t calls[4];  /* by range of RANGE numbers */
	uint32_t strangers; /* records of threads of other processes */
	uint32_t ends;
} said;

#define RANGE 1000000u

static void take(void *unused, const struct found *found)
{
	(void)unused;
	if (is_kind(found, GP_RECORD_CALL)) {
		said.calls[found->record->call.correlation_id / RANGE]++;
		said.strangers += found->thread != (uint32_t)getpid();
	}
	said.ends += is_kind(found, GP_RECORD_END);
}

static void stop_and_read(void)
{
	CHECK(gp_collector_stop(LONG_NS) == 0);
	scan.fn = take;
	CHECK(scan_trace(&scan, gp_collector_trace_path()));
	CHECK(scan.error == NULL && said.ends == 1);
}

static void wait_for(pid_t child)
{
	int status;

	CHECK(child > 0);
	CHECK(waitpid(child, &status, __WALL) == child);
	CHECK(status == 0);
}

/* Makes every call that a child may make to its parent's collector. */
static void misbehave(void)
{
	CHECK(!gp_collector_is_live());
	for (uint32_t i = 0; i < 1000; i++)
		CHECK(!emit_call(RANGE + i));
	CHECK(!gp_emit_info(GP_INFO_NOTE, "from a child"));
	gp_count(GP_COUNTER_LOST_CUPTI, 1);
	gp_count_hook(1);
	gp_count_nested();
	gp_collector_request_anchor();
	CHECK(gp_collector_stop(LONG_NS) == -ECHILD);
}

static void *misbehave_in_thread(void *unused)
{
	misbehave();
	return unused;
}

static void emit_before(void)
{
	for (uint32_t i = 0; i < 1000; i++)
		emit_call_surely(i);
}

static void emit_after(void)
{
	for (uint32_t i = 0; i < 1000; i++)
		emit_call_surely(2 * RANGE + i);
}

static void check_parent(void)
{
	emit_after();
	stop_and_read();
	CHECK(said.calls[0] == 1000 && said.calls[1] == 0 && said.calls[2] == 1000);
	CHECK(said.strangers == 0);
}

static void fork_children(enum gp_ring_place place)
{
	start_in(place);
	emit_before();
	for (int i = 0; i < 5; i++) {
		pid_t child = fork();

		if (child == 0) {
			misbehave();
			_exit(0);
		}
		wait_for(child);
	}
	check_parent();
}

static void a_forked_child(void)
{
	fork_children(GP_RINGS_AUTO);
}

static void a_forked_child_of_rings_in_memory(void)
{
	fork_children(GP_RINGS_MEMORY);
}

/* ---- pauses ---- */

/* The number of our threads.  The program's own threads may include one of a sanitizer. */
static uint32_t our_threads(void)
{
	static uint32_t of_program;
	bool main_has_ended;
	uint32_t count = gp_process_identity_thread_count(&main_has_ended);

	if (of_program == 0)
		of_program = count;
	return count - of_program;
}

static void start_with_pauses(enum gp_ring_place place)
{
	CHECK(our_threads() == 0);
	CHECK(gp_collector_start(&(struct gp_collector_config){.trace_path = in_folder("t"),
							       .ring_place = place,
							       .pauses_at_fork = true}) == 0);
}

/* Returns the number of our threads in the parent afterwards. */
static uint32_t fork_once(void)
{
	pid_t child = fork();
	uint32_t count = our_threads();

	if (child == 0)
		_exit(0);
	wait_for(child);
	return count;
}

/* After a resume the thread goes on, and takes the earlier records from the rings. */
static void a_fork_without_our_thread(void)
{
	start_with_pauses(GP_RINGS_AUTO);
	CHECK(gp_collector_is_writing());
	emit_before();
	for (int i = 0; i < 5; i++) {
		CHECK(fork_once() == 0);
		CHECK(gp_collector_is_live() && !gp_collector_is_writing());
		gp_collector_resume();
		CHECK(gp_collector_is_writing() && our_threads() == 1);
	}
	for (uint32_t i = 0; i < RANGE / 10; i++)
		emit_call_surely(RANGE + i);
	emit_after();
	stop_and_read();
	CHECK(said.calls[0] == 1000 && said.calls[1] == RANGE / 10 && said.calls[2] == 1000);
}

/* The trace is completed without the thread, and a limit on the size of files ends no program. */
static void an_end_without_our_thread(void)
{
	start_with_pauses(GP_RINGS_AUTO);
	emit_before();
	CHECK(fork_once() == 0);
	check_parent();
	CHECK(our_threads() == 0);
}

static void an_end_without_our_thread_at_a_limit(void)
{
	struct rlimit limit = {1, 1};

	start_with_pauses(GP_RINGS_SHM);
	emit_before();
	CHECK(fork_once() == 0);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK(gp_collector_stop(LONG_NS) == -EFBIG);
	remove_ring_files(getpid());
}

static void forks_with_our_thread(void)
{
	start_with_pauses(GP_RINGS_MEMORY);
	emit_before();
	CHECK(fork_once() == 1 && gp_collector_is_writing());
	gp_store32(&gp_process_state.cupti, 1);
	CHECK(fork_once() == 1 && gp_collector_is_writing());
	check_parent();
}

static void leave_at_once(void)
{
	_exit(0);
}

static void a_forked_child_with_threads_and_exit(void)
{
	pid_t child;

	start_in(GP_RINGS_AUTO);
	emit_before();
	fflush(NULL);
	child = fork();
	if (child == 0) {
		pthread_t thread;

		CHECK(pthread_create(&thread, NULL, misbehave_in_thread, NULL) == 0);
		pthread_join(thread, NULL);
		atexit(leave_at_once); /* skips the search for leaks */
		pthread_exit(NULL);    /* runs the key's destructor in the child */
	}
	wait_for(child);
	check_parent();
}

static long (*real_call)(long, long, long, long, long, long, long);

static long no_wipe(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_madvise && c == 18 /* MADV_WIPEONFORK */)
		return -EINVAL;
	return real_call(number, a, b, c, d, e, f);
}

/* Undo the constructor's request to the kernel. */
static void a_forked_child_on_an_old_kernel(void)
{
	real_call = gp_sys.call;
	gp_sys.call = no_wipe;
	CHECK(madvise(&gp_process_state, sizeof(gp_process_state), 19 /* MADV_KEEPONFORK */) == 0);
	CHECK(gp_process_state_prepare() == 0);
	fork_children(GP_RINGS_AUTO);
}

/* As some language runtimes do it: no handler of ours or of libc runs. */
static void a_child_of_raw_clone(void)
{
	pid_t child;

	start_in(GP_RINGS_AUTO);
	emit_before();
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (child == 0) {
		misbehave();
		_exit(0);
	}
	wait_for(child);
	check_parent();
}

/*
 * A vfork child runs in its parent's memory while the parent is suspended: its records belong to
 * the parent.
 */
static void a_vfork_child(void)
{
	pid_t child;

	start_in(GP_RINGS_AUTO);
	emit_before();
	for (int round = 0; round < 10; round++) {
		child = vfork();
		if (child == 0) {
			for (uint32_t i = 0; i < 100; i++)
				emit_call(RANGE + i);
			_exit(0);
		}
		wait_for(child);
	}
	emit_after();
	stop_and_read();
	CHECK(said.calls[0] == 1000 && said.calls[1] == 1000 && said.calls[2] == 1000);
	CHECK(said.strangers == 0);
}

/* The child calls exit() instead of _exit(), and so runs our exit path. */
static void a_vfork_child_that_stops(void)
{
	static volatile int result;
	pid_t child;

	start_in(GP_RINGS_AUTO);
	emit_before();
	child = vfork();
	if (child == 0) {
		result = gp_collector_stop(1000000000u);
		_exit(0);
	}
	wait_for(child);
	CHECK(result == -ECHILD);
	CHECK(gp_collector_is_live());
	emit_after();
	stop_and_read();
	CHECK(said.calls[0] == 1000 && said.calls[2] == 1000);
}

static void *vfork_first(void *unused)
{
	pid_t child = vfork();

	if (child == 0) {
		emit_call(RANGE);
		_exit(0);
	}
	wait_for(child);
	for (uint32_t i = 0; i < 1000; i++)
		emit_call_surely(2 * RANGE + i);
	return unused;
}

/* The parent's thread has not emitted yet: the child must not take a ring in its place. */
static void a_vfork_child_that_emits_first(void)
{
	pthread_t thread;

	start_in(GP_RINGS_AUTO);
	CHECK(pthread_create(&thread, NULL, vfork_first, NULL) == 0);
	pthread_join(thread, NULL);
	stop_and_read();
	CHECK(said.calls[1] == 1 && said.calls[2] == 1000);
}

static void *emit_for_ever(void *stop)
{
	uint32_t number = 0;

	while (!__atomic_load_n((int *)stop, __ATOMIC_ACQUIRE))
		emit_call(number++ % RANGE);
	return NULL;
}

/* The child is created while another thread emits a record. */
static void forks_beside_busy_threads(void)
{
	static int stop;
	pthread_t thread;

	start_in(GP_RINGS_AUTO);
	CHECK(pthread_create(&thread, NULL, emit_for_ever, &stop) == 0);
	for (int i = 0; i < 100; i++) {
		pid_t child = fork();

		if (child == 0) {
			misbehave();
			_exit(0);
		}
		wait_for(child);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	stop_and_read();
	CHECK(said.calls[1] == 0);
}

/* ---- a child that starts anew ---- */

static void scan_afresh(void)
{
	memset(&scan, 0, sizeof(scan));
	memset(&said, 0, sizeof(said));
}

/* In a child: a recording of its own, with the calls of the second range. */
static void record_anew(const char *name, uint32_t first)
{
	struct gp_collector_config config = {.trace_path = in_folder(name)};

	CHECK(!gp_collector_is_live());
	/* before the start: counts for the parent's recording */
	gp_count(GP_COUNTER_LOST_CUPTI, 1);
	CHECK(gp_collector_start(&config) == 0);
	CHECK(gp_collector_start(&config) == -EEXIST);
	CHECK(strstr(gp_collector_trace_path(), name) != NULL);
	for (uint32_t i = 0; i < 1000; i++)
		emit_call_surely(first + i);
	scan_afresh();
	stop_and_read();
	CHECK(said.calls[first / RANGE] == 1000 && said.strangers == 0);
	CHECK(said.calls[0] + said.calls[1] + said.calls[2] + said.calls[3] == 1000);
}

static void a_forked_child_that_records(void)
{
	start_in(GP_RINGS_AUTO);
	emit_before();
	for (int i = 0; i < 3; i++) {
		pid_t child = fork();

		if (child == 0) {
			record_anew("child", RANGE);
			_exit(0);
		}
		wait_for(child);
	}
	check_parent();
}

static void a_grandchild_that_records(void)
{
	pid_t child;

	start_in(GP_RINGS_AUTO);
	emit_before();
	child = fork();
	if (child == 0) {
		pid_t grandchild = fork();

		if (grandchild == 0) {
			record_anew("grandchild", RANGE);
			_exit(0);
		}
		wait_for(grandchild);
		record_anew("child", 3 * RANGE);
		_exit(0);
	}
	wait_for(child);
	check_parent();
}

static void a_child_of_a_stopped_collector(void)
{
	pid_t child;

	start_in(GP_RINGS_AUTO);
	emit_before();
	CHECK(gp_collector_stop(LONG_NS) == 0);
	child = fork();
	if (child == 0) {
		record_anew("child", RANGE);
		_exit(0);
	}
	wait_for(child);
}

static void a_vfork_child_that_starts(void)
{
	static volatile int result;
	pid_t child;

	CHECK(gp_process_state_is_own_process()); /* as in a constructor of the program */
	child = vfork();
	if (child == 0) {
		result = gp_collector_start(
			&(struct gp_collector_config){.trace_path = in_folder("c")});
		_exit(0);
	}
	wait_for(child);
	CHECK(result == -ECHILD);
	start_in(GP_RINGS_AUTO);
	emit_before();
	stop_and_read();
	CHECK(said.calls[0] == 1000);
}

static void *emit_a_thousand(void *first)
{
	for (uint32_t i = 0; i < 1000; i++)
		emit_call_surely(*(uint32_t *)first + i);
	return NULL;
}

/* The forking thread keeps its parent's thread-local state.  It ends without a record. */
static void *fork_in_thread(void *unused)
{
	static uint32_t first = RANGE;
	pthread_t thread;
	pid_t child;

	emit_before();
	child = fork();
	if (child == 0) {
		struct gp_collector_config config = {.trace_path = in_folder("child")};

		CHECK(gp_collector_start(&config) == 0);
		CHECK(pthread_create(&thread, NULL, emit_a_thousand, &first) == 0);
		pthread_join(thread, NULL);
		emit_after();
		scan_afresh();
		stop_and_read();
		CHECK(said.calls[0] == 0 && said.calls[1] == 1000 && said.calls[2] == 1000);
		_exit(0);
	}
	wait_for(child);
	return unused;
}

static void a_child_with_threads_that_records(void)
{
	pthread_t thread;

	start_in(GP_RINGS_AUTO);
	CHECK(pthread_create(&thread, NULL, fork_in_thread, NULL) == 0);
	pthread_join(thread, NULL);
	stop_and_read();
	CHECK(said.calls[0] == 1000 && said.calls[1] == 0 && said.calls[2] == 0);
}

#define TURNS 10
static uint32_t begun, turn, forks_are_over;

static void *emit_a_hundred_a_turn(void *first)
{
	__atomic_add_fetch(&begun, 1, __ATOMIC_ACQ_REL);
	for (uint32_t i = 0; i < TURNS * 100; i++) {
		while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) <= i / 100)
			sched_yield();
		emit_call_surely(*(uint32_t *)first + i);
	}
	while (!__atomic_load_n(&forks_are_over, __ATOMIC_ACQUIRE))
		sched_yield();
	return NULL;
}

/*
 * Children are created while other threads emit, and start a recording.  The parent's trace is
 * complete.  No thread begins or ends meanwhile: AddressSanitizer then allocates under a lock that
 * it does not release in the child.
 */
static void a_child_records_beside_busy_threads(void)
{
	static uint32_t firsts[2] = {0, 3 * RANGE};
	pthread_t threads[2];

	start_in(GP_RINGS_AUTO);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], NULL, emit_a_hundred_a_turn, &firsts[i]) == 0);
	while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) < 2)
		sched_yield();
	for (int i = 0; i < TURNS; i++) {
		pid_t child;

		__atomic_add_fetch(&turn, 1, __ATOMIC_ACQ_REL);
		child = fork();
		if (child == 0) {
			record_anew("child", RANGE);
			_exit(0);
		}
		wait_for(child);
	}
	__atomic_store_n(&forks_are_over, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	emit_after();
	stop_and_read();
	CHECK(said.calls[0] == 1000 && said.calls[3] == 1000 && said.calls[1] == 0);
	CHECK(said.calls[2] == 1000);
}

/* ---- a signal handler forks, and both processes go on in what it interrupted ---- */

#if defined(__x86_64__)
/* with a sanitizer, single-stepping would also enter its functions */
#define MAY_STEP       (!UNDER_TSAN && !UNDER_ASAN)
#define TRAP_FLAG      0x100
#define FORKS_OF_A_RUN 4000

static volatile sig_atomic_t is_stepped_child, steps;

/*
 * The kernel's vDSO repeats a clock read if time has passed meanwhile.  With a fork at each of its
 * instructions it would never end.
 */
static bool is_clock(const ucontext_t *context)
{
	uintptr_t at = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];

	return at - getauxval(AT_SYSINFO_EHDR) < 0x4000;
}

/* After each instruction: fork a child, which continues alone. */
static void fork_here(int signal_number, siginfo_t *info, void *interrupted)
{
	ucontext_t *context = interrupted;
	int saved_errno = errno;
	pid_t child;

	(void)signal_number, (void)info;
	if (is_clock(context))
		return;
	if (++steps > FORKS_OF_A_RUN)
		return;
	child = fork();
	if (child == 0) {
		is_stepped_child = 1;
		context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
		alarm(20);
	} else {
		wait_for(child);
	}
	errno = saved_errno;
}

static void step_through(void (*what)(void))
{
	struct sigaction action = {.sa_sigaction = fork_here, .sa_flags = SA_SIGINFO};

	CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
	steps = 0;
	__asm__ volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "cc", "memory");
	what();
	__asm__ volatile("pushfq; andq %0, (%%rsp); popfq" : : "i"(~TRAP_FLAG) : "cc", "memory");
	if (is_stepped_child)
		_exit(0);
	CHECK(steps > 20 && steps <= FORKS_OF_A_RUN);
}

static void hook(void)
{
	gp_call_begins(7, 1);
	CHECK(emit_call(0) || is_stepped_child);
	gp_count_hook(1);
	gp_call_is_excluded();
}

static void say(void)
{
	CHECK(gp_emit_info(GP_INFO_NOTE, "from a hook") || is_stepped_child);
}

static void *begin_and_end(void *unused)
{
	step_through(hook);
	return unused;
}

static void handlers_that_fork(void)
{
	pthread_t thread;

	start_in(GP_RINGS_AUTO);
	emit_call_surely(1);
	step_through(hook);
	step_through(say);
	CHECK(pthread_create(&thread, NULL, begin_and_end, NULL) == 0);
	pthread_join(thread, NULL);
	scan.fn = take;
	CHECK(gp_collector_stop(LONG_NS) == 0);
	CHECK(scan_trace(&scan, gp_collector_trace_path()));
	CHECK(scan.error == NULL && said.calls[0] == 3 && said.ends == 1);
}
#else
#define MAY_STEP 0

static void handlers_that_fork(void)
{
}
#endif

/* TSan turns vfork() into fork() and allows no new thread in a forked child. */
static bool sanitizer_forbids(void (*body)(void))
{
	return UNDER_TSAN &&
	       (body == a_forked_child_with_threads_and_exit || body == a_vfork_child ||
		body == a_vfork_child_that_stops || body == a_vfork_child_that_emits_first ||
		body == a_vfork_child_that_starts || body == a_forked_child_that_records ||
		body == a_grandchild_that_records || body == a_child_of_a_stopped_collector ||
		body == a_child_with_threads_that_records ||
		body == a_child_records_beside_busy_threads);
}

static bool emulator_forbids(void (*body)(void))
{
	const struct {
		void (*body)(void);
		const char *reason;
	} cases[] = {
		{a_fork_without_our_thread, EMULATED_THREADS},
		{forks_with_our_thread, EMULATED_THREADS},
		{a_child_of_raw_clone, EMULATED_WIPE},
		{a_vfork_child_that_stops, EMULATED_VFORK},
		{a_vfork_child_that_starts, EMULATED_VFORK},
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		if (cases[i].body == body)
			return is_emulated(cases[i].reason);
	return false;
}

#define CASE(name)                                                                                 \
	static void test_##name(void **unused)                                                     \
	{                                                                                          \
		(void)unused;                                                                      \
		if (emulator_forbids(name) || sanitizer_forbids(name) ||                           \
		    (name == handlers_that_fork && !MAY_STEP))                                     \
			skip();                                                                    \
		run_case(name);                                                                    \
	}
#define CASES(X)                                                                                   \
	X(a_forked_child)                                                                          \
	X(a_forked_child_of_rings_in_memory)                                                       \
	X(a_fork_without_our_thread)                                                               \
	X(an_end_without_our_thread)                                                               \
	X(an_end_without_our_thread_at_a_limit)                                                    \
	X(forks_with_our_thread)                                                                   \
	X(a_forked_child_with_threads_and_exit)                                                    \
	X(a_forked_child_on_an_old_kernel)                                                         \
	X(a_child_of_raw_clone)                                                                    \
	X(a_vfork_child)                                                                           \
	X(a_vfork_child_that_stops)                                                                \
	X(a_vfork_child_that_emits_first)                                                          \
	X(forks_beside_busy_threads)                                                               \
	X(a_forked_child_that_records)                                                             \
	X(a_grandchild_that_records)                                                               \
	X(a_child_of_a_stopped_collector)                                                          \
	X(a_child_with_threads_that_records)                                                       \
	X(a_child_records_beside_busy_threads)                                                     \
	X(a_vfork_child_that_starts)                                                               \
	X(handlers_that_fork)
CASES(CASE)

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ROW(name) cmocka_unit_test(test_##name),
		CASES(ROW)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
