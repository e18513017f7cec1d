/* stack: captures on small stacks, in signal handlers, and in forking and ending threads. */
#include "tests/unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/collector.h"
#include "stacks/modules.h"
#include "stacks/stack.h"
#include "tests/lib/emulated.h"
#include "tests/lib/sanitizer.h"
#include "tests/lib/temporary.h"

/* PTHREAD_STACK_MIN, of which the C library uses a part */
#if defined(__aarch64__)
#define SMALL_STACK_BYTES 131072
#else
#define SMALL_STACK_BYTES 16384
#endif
#define DEPTHS  40
#define FORKS   50
#define SIGNALS 2000
#define LONG_S  20

/* ---- small stacks ---- */

static void *take_one(void *id)
{
	*(uint32_t *)id = gp_stack_capture();
	return NULL;
}

/* The first capture of the process: no address is known yet. */
static void needs_little_stack(void **state)
{
	pthread_attr_t attributes;
	pthread_t thread;
	uint32_t id = 0;

	pthread_attr_init(&attributes);
	assert_int_equal(pthread_attr_setstacksize(&attributes, SMALL_STACK_BYTES), 0);
	assert_int_equal(pthread_create(&thread, &attributes, take_one, &id), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
	assert_int_not_equal(id, 0);
}

/* ---- signals ---- */

static volatile sig_atomic_t signal_count, taken_in_handler, errno_was_lost;

/*
 * The next signal comes some time after this one was handled, so that slow handlers do not stop the
 * rest.
 */
static void signal_again(int count)
{
	const struct itimerval once = {{0, 0}, {0, count < SIGNALS ? 100 : 0}};

	setitimer(ITIMER_REAL, &once, NULL);
}

static void on_signal(int number)
{
	(void)number;
	errno = EXDEV;
	taken_in_handler += gp_stack_capture() != 0;
	errno_was_lost += errno != EXDEV;
	signal_again(++signal_count);
}

/*
 * One place for all depths.  The id is returned through memory, so that no frame is omitted by a
 * tail call.
 */
static __attribute__((noinline)) void take_at(int depth, volatile uint32_t *id)
{
	if (depth > 0)
		take_at(depth - 1, id);
	else
		*id = gp_stack_capture();
	__asm__ volatile("" : : : "memory");
}

/*
 * Cycles through the depths, from one place, until enough signals arrived.  Returns the number of
 * stacks that differ from the first ones.
 */
static int count_wrong(int signals)
{
	uint32_t first[DEPTHS] = {0};
	int wrong = 0;

	for (int i = 0; i < DEPTHS || signal_count < signals; i++) {
		volatile uint32_t id;
		int depth = i * 7 % DEPTHS;

		/* keeps the compiler from peeling the first iterations */
		__asm__ volatile("" : "+r"(i), "+r"(depth));
		take_at(depth, &id);
		if (i < DEPTHS)
			first[depth] = id;
		wrong += id == 0 || id != first[depth];
		i = i == 100 * DEPTHS ? DEPTHS : i;
	}
	return wrong;
}

static void is_interrupted_anywhere(void **state)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	sigaction(SIGALRM, &action, NULL);
	signal_again(0);
	int wrong = count_wrong(SIGNALS);

	assert_int_equal(wrong, 0);
	assert_int_equal(errno_was_lost, 0);
	assert_int_not_equal(taken_in_handler, 0);
}

/* ---- processes ---- */

static volatile bool is_over;

static void *take_all_the_time(void *unused)
{
	volatile uint32_t id;

	for (int depth = 0; !is_over; depth = (depth + 1) % DEPTHS)
		take_at(depth, &id);
	return unused;
}

static void *poll_all_the_time(void *unused)
{
	while (!is_over)
		gp_stack_poll();
	return unused;
}

static int look_at_one(struct dl_phdr_info *info, size_t bytes, void *count)
{
	(void)info, (void)bytes;
	++*(int *)count;
	return 1;
}

static void end_if_it_hangs(void)
{
	signal(SIGALRM, SIG_DFL);
	alarm(LONG_S);
}

/* A profiler thread iterates the loader's list.  Its lock must not stay taken in the child. */
static void leaves_the_loader_to_forked_children(void **state)
{
	pthread_t thread;

	is_over = false;
	assert_int_equal(pthread_create(&thread, NULL, poll_all_the_time, NULL), 0);
	for (int i = 0; i < FORKS; i++) {
		pid_t child = fork();
		int status, count = 0;

		if (child == 0) {
			end_if_it_hangs();
			dl_iterate_phdr(look_at_one, &count);
			_exit(count);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 1 << 8);
	}
	is_over = true;
	pthread_join(thread, NULL);
}

static int run_child(void)
{
	volatile uint32_t id = 1;

	end_if_it_hangs();
	take_at(3, &id);
	return id == 0 && gp_stack_start() == -EALREADY ? 0 : 1;
}

static void is_off_in_forked_children(void **state)
{
	pthread_t thread;

	is_over = false;
	assert_int_equal(pthread_create(&thread, NULL, take_all_the_time, NULL), 0);
	for (int i = 0; i < FORKS; i++) {
		pid_t child = fork();
		int status;

		if (child == 0)
			_exit(run_child());
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	is_over = true;
	pthread_join(thread, NULL);
}

/* ---- the steady state ---- */

/*
 * From here on, any system call of this thread kills the process, except those by which it reports
 * completion and waits for the end.
 */
static int forbid_system_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ppoll, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static volatile int calmly_taken;
static sem_t calm_ended;

static void *take_calmly(void *unused)
{
	volatile uint32_t id = 0;

	for (int i = 0; i < 4 * DEPTHS; i++) {
		__asm__ volatile("" : "+r"(i));
		if (i == DEPTHS && forbid_system_calls() != 0)
			break;
		take_at(i % DEPTHS, &id);
		calmly_taken += id != 0;
	}
	sem_post(&calm_ended);
	syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0); /* until the process ends */
	return unused;
}

static void makes_no_system_call(void **state)
{
	pthread_t thread;

	sem_init(&calm_ended, 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, take_calmly, NULL), 0);
	while (sem_wait(&calm_ended) != 0)
		;
	pthread_detach(thread);
	if (calmly_taken == DEPTHS) {
		print_message("skipped: a thread cannot install a seccomp filter here\n");
		skip();
	}
	assert_int_equal(calmly_taken, 4 * DEPTHS);
}

/* ---- threads that end ---- */

static uint32_t ids_at_end[PTHREAD_DESTRUCTOR_ITERATIONS];
static pthread_key_t key;
static int round_at_end;

/* Destructors run in the order of the keys, then again: once before ours, once after. */
static void take_at_end(void *value)
{
	ids_at_end[round_at_end++] = gp_stack_capture();
	if (round_at_end < PTHREAD_DESTRUCTOR_ITERATIONS - 1)
		pthread_setspecific(key, value);
}

static void *end_with_captures(void *unused)
{
	volatile uint32_t id;

	take_at(2, &id);
	pthread_setspecific(key, &key);
	return unused;
}

static void does_not_capture_in_ended_threads(void **state)
{
	pthread_t thread;

	assert_int_equal(pthread_key_create(&key, take_at_end), 0);
	assert_int_equal(pthread_create(&thread, NULL, end_with_captures, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(round_at_end, PTHREAD_DESTRUCTOR_ITERATIONS - 1);
	for (int i = 0; i < round_at_end; i++)
		assert_int_equal(ids_at_end[i], 0);
	pthread_key_delete(key);
}

/* A program with many short threads does not grow: the memory of an ended thread is released. */
static void releases_the_memory_of_threads(void **state)
{
	long before = 0, after = 0;

	if (is_emulated(EMULATED_MEMORY))
		skip();
	for (int i = 0; i < 400; i++) {
		pthread_t thread;
		uint32_t id;
		FILE *file;

		assert_int_equal(pthread_create(&thread, NULL, take_one, &id), 0);
		pthread_join(thread, NULL);
		assert_int_not_equal(id, 0);
		if (i != 20 && i != 399)
			continue;
		file = fopen("/proc/self/statm", "r");
		assert_non_null(file);
		assert_int_equal(fscanf(file, "%ld", i == 20 ? &before : &after), 1);
		fclose(file);
	}
	/* the memory of one thread is a tenth of that */
	assert_true((after - before) * 4096 < 2 << 20);
}

/* ---- interpreters ---- */

typedef int back(void *argument);

static int take_below(void *id)
{
	*(uint32_t *)id = gp_stack_capture();
	return 1;
}

static void path_of(const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/tests/stacks/%s", getenv("O"), name);
}

static void *load_path(const char *path, int (**call)(back *function, void *argument))
{
	void *library = dlopen(path, RTLD_NOW);

	assert_non_null(library);
	*(void **)call = dlsym(library, "plugin_call");
	return library;
}

static void *load(const char *name, int (**call)(back *function, void *argument))
{
	char path[PATH_MAX];

	path_of(name, path);
	return load_path(path, call);
}

/*
 * The interpreter is called while it is loaded, and not after it is unloaded.  Then another one is
 * called.
 */
static void forgets_an_unloaded_interpreter(void **state)
{
	int (*call)(back * function, void *argument);
	uint32_t id = 0;

	for (int i = 0; i < 3; i++) {
		void *library = load("plugin_python39.so", &call);

		assert_int_equal(call(take_below, &id), 2);
		assert_int_not_equal(id, 0);
		assert_int_equal(*(int *)dlsym(library, "plugin_was_asked"), 1);
		dlclose(library);
		assert_null(dlsym(RTLD_DEFAULT, "plugin_was_asked"));
		gp_stack_poll();
		take_below(&id);
		assert_int_not_equal(id, 0);
	}
}

/* The other thread, to which the module was new, has not come to the interpreter in it yet. */
static void asks_an_interpreter_that_another_thread_found(void **state)
{
	char folder[] = "/tmp/gpuprof-test-XXXXXX", path[PATH_MAX], target[PATH_MAX], link[64];
	int (*call)(back * function, void *argument);
	struct gp_module module;
	bool is_first;
	uint32_t id;

	assert_non_null(temporary_folder(folder));
	path_of("plugin_python39.so", path);
	snprintf(link, sizeof(link), "%s/libpython3.9.so", folder);
	assert_non_null(realpath(path, target));
	assert_int_equal(symlink(target, link), 0);
	void *library = load_path(link, &call);

	assert_true(gp_modules_find((uint64_t)(uintptr_t)call, &module, &is_first));
	assert_true(is_first);
	assert_int_equal(call(take_below, &id), 2);
	assert_int_equal(*(int *)dlsym(library, "plugin_was_asked"), 1);
	dlclose(library);
	gp_stack_poll();
	unlink(link);
	rmdir(folder);
}

static void has_native_frames_of_unknown_interpreters(void **state)
{
	int (*call)(back * function, void *argument);
	uint32_t id = 0;

	load("plugin_python.so", &call);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(call(take_below, &id), 2);
		assert_int_not_equal(id, 0);
	}
}

/* Whether the note is in the trace file, which contains texts verbatim. */
static bool is_logged(const char *trace)
{
	static const char wanted[] =
		"Python 3.16 is not supported here: its functions are not in call stacks, and its threads are not sampled";
	static char bytes[4 << 20];
	FILE *file = fopen(trace, "r");
	size_t count = file != NULL ? fread(bytes, 1, sizeof(bytes), file) : 0;

	if (file != NULL)
		fclose(file);
	return memmem(bytes, count, wanted, sizeof(wanted) - 1) != NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(needs_little_stack),
		cmocka_unit_test(is_interrupted_anywhere),
		cmocka_unit_test(leaves_the_loader_to_forked_children),
		cmocka_unit_test(is_off_in_forked_children),
		cmocka_unit_test(makes_no_system_call),
		cmocka_unit_test(does_not_capture_in_ended_threads),
		cmocka_unit_test(releases_the_memory_of_threads),
		cmocka_unit_test(forgets_an_unloaded_interpreter),
		cmocka_unit_test(asks_an_interpreter_that_another_thread_found),
		cmocka_unit_test(has_native_frames_of_unknown_interpreters),
	};
	char folder[] = "/tmp/gpuprof-test-XXXXXX", path[64];

	if (UNDER_TSAN) {
		puts("skipped: ThreadSanitizer delays signals, and does not support a fork beside other threads");
		return 77;
	}
	if (getenv("O") == NULL) {
		puts("skipped: O is not set, so the plugin is not found");
		return 77;
	}
	if (temporary_folder(folder) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/t", folder);
	const struct gp_collector_config config = {.trace_path = path,
						   .ring_place = GP_RINGS_MEMORY};

	if (gp_collector_start(&config) != 0 || gp_stack_start() != 0)
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	gp_collector_stop(10000000000u);
	if (!is_logged(gp_collector_trace_path())) {
		fprintf(stderr, "the trace has no note about the unknown interpreter\n");
		failed++;
	}
	remove(gp_collector_trace_path());
	remove(folder);
	return failed;
}
