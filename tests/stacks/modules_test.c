/*
 * modules: the results of walks with modules that are loaded and unloaded, other stacks than the
 * thread's own, and code without unwind rules.
 */
#include "tests/unit.h"

#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <errno.h>
#include <libunwind.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stacks/stack_copy.h"
#include "stacks/modules.h"
#include "stacks/rule_table.h"
#include "stacks/stack_tree.h"
#include "stacks/walk.h"
#include "tests/collector/harness.h"
#include "tests/collector/trace_check.h"
#include "tests/stacks/forget.h"
#include "tests/stacks/stuck.h"

#define LONG_S  20
#define SKIPPED 77

typedef int back(void *argument);
typedef int plugin_fn(back *function, void *argument);

static struct gp_walk walk;

static __attribute__((noinline)) uint64_t walk_here(struct gp_walk *own)
{
	struct gp_place place;

	GP_PLACE_HERE(place);
	uint64_t number = gp_walk(own, place);

	__asm__ volatile("" : : : "memory");
	return number;
}

static void load_plugin(const char *name, void **handle, plugin_fn **call)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/stacks/%s", getenv("O"), name);
	*handle = dlopen(path, RTLD_NOW);
	assert_non_null(*handle);
	*(void **)call = dlsym(*handle, "plugin_call");
	assert_non_null(*call);
}

/*
 * Compares frame by frame, from the second on: the first frames are at different places of one
 * function.
 */
static __attribute__((noinline)) int agrees_with_libunwind(void *unused)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t pc;
	struct gp_place place;

	(void)unused;
	unw_getcontext(&context);
	GP_PLACE_HERE(place);
	gp_walk(&walk, place);
	unw_flush_cache(unw_local_addr_space, 0, 0);
	unw_init_local(&cursor, &context);
	for (uint32_t i = walk.last->count - 1; i-- > 0;) {
		assert_true(unw_step(&cursor) > 0);
		unw_get_reg(&cursor, UNW_REG_IP, &pc);
		assert_int_equal(pc, walk.last->frames[i].pc);
	}
	assert_int_equal(walk.last->root, 0);
	return 0;
}

static void forgets_unloaded_modules(void **state)
{
	uint64_t places[2] = {0, 0};
	void *handle;
	plugin_fn *call;

	for (int i = 0; i < 20; i++) {
		load_plugin(i % 2 ? "plugin_small.so" : "plugin_large.so", &handle, &call);
		places[i % 2] = (uint64_t)(uintptr_t)call;
		call(agrees_with_libunwind, NULL);
		call(agrees_with_libunwind, NULL);
		dlclose(handle);
		gp_modules_poll();
	}
	if (places[0] != places[1])
		print_message("the two plugins had different addresses: nothing was tested\n");
}

/* ---- the records of a module ---- */

static struct {
	char path[512];
	struct gp_record_module records[8];
	uint32_t count;
} told;

static void take_module(void *id, const struct found *found)
{
	const struct any_record *record = found->record;

	if (record->record.kind == GP_RECORD_MODULE && record->module.id == *(uint32_t *)id) {
		CHECK(told.count < 8);
		told.records[told.count++] = record->module;
	} else if (record->record.kind == GP_RECORD_STRING &&
		   record->string.space == GP_STRING_MODULE &&
		   record->string.id == *(uint32_t *)id) {
		snprintf(told.path, sizeof(told.path), "%.*s", (int)record->string.length_bytes,
			 (const char *)record->text);
	}
}

static bool is_of_call(const struct gp_module *module, uint64_t address)
{
	const struct gp_record_module *record = &told.records[0];

	return told.count == 1 && record->start_address == module->start &&
	       record->end_address == module->end && record->bias == module->bias &&
	       record->start_address <= address && address < record->end_address;
}

/* With the build id that tests/tests.mk sets. */
static void tells_place_path_and_build_id(void)
{
	static const uint8_t build_id[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
	static struct scan scan = {.fn = take_module};
	struct gp_module module;
	bool is_first;
	void *handle;
	plugin_fn *call;
	uint64_t address;

	start_in(GP_RINGS_MEMORY);
	load_plugin("plugin_small.so", &handle, &call);
	address = (uint64_t)(uintptr_t)call;
	CHECK(gp_modules_find(address, &module, &is_first) && is_first);
	CHECK(gp_modules_find(address, &module, &is_first) && !is_first);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	scan.context = &module.id;
	CHECK(scan_trace(&scan, gp_collector_trace_path()) && scan.error == NULL);
	CHECK(is_of_call(&module, address));
	CHECK(told.records[0].build_id_bytes == sizeof(build_id));
	CHECK(memcmp(told.records[0].build_id, build_id, sizeof(build_id)) == 0);
	CHECK(told.path[0] == '/' && strcmp(strrchr(told.path, '/'), "/plugin_small.so") == 0);
}

static void a_module_is_emitted_once(void **state)
{
	run_case(tells_place_path_and_build_id);
}

/* ---- a thread that loads a module waits for one that takes stacks ---- */

static sem_t wanted, done;
static bool had_to_look;

static void *take_when_wanted(void *unused)
{
	struct gp_module module;
	bool is_first;

	(void)unused;
	for (int i = 0; i < 2; i++) {
		sem_wait(&wanted);
		/* an address not seen before, so the list of modules is read again */
		had_to_look =
			gp_modules_find((uint64_t)(uintptr_t)&take_when_wanted, &module, &is_first);
		gp_rule_table_learn((uint64_t)(uintptr_t)&take_when_wanted + 8 + (uint64_t)i);
		sem_post(&done);
	}
	return NULL;
}

static void wait_for_capture(void)
{
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += LONG_S;
	sem_post(&wanted);
	while (sem_timedwait(&done, &limit) != 0)
		if (errno != EINTR) {
			fprintf(stderr, "the capture waits for the loader\n");
			abort();
		}
}

static void never_waits_for_a_constructor(void **state)
{
	char hook[32];
	pthread_t thread;
	void *handle;
	plugin_fn *call;

	sem_init(&wanted, 0, 0);
	sem_init(&done, 0, 0);
	snprintf(hook, sizeof(hook), "%lx", (unsigned long)(uintptr_t)wait_for_capture);
	setenv("PLUGIN_HOOK", hook, 1);
	assert_int_equal(pthread_create(&thread, NULL, take_when_wanted, NULL), 0);
	load_plugin("plugin_small.so", &handle, &call);
	dlclose(handle);
	pthread_join(thread, NULL);
	unsetenv("PLUGIN_HOOK");
	assert_true(had_to_look);
}

/* ---- signals ---- */

/* Volatile: the compiler knows that raise() changes nothing here. */
static volatile uint32_t frames_in_handler;
static volatile bool found_victim;
static volatile uint64_t victim_sp;

static void on_signal(int number)
{
	(void)number;
	walk_here(&walk);
	frames_in_handler = walk.last->count;
	for (uint32_t i = 0; i < walk.last->count; i++)
		if (walk.last->frames[i].sp == victim_sp)
			found_victim = true;
}

static __attribute__((noinline)) void raise_here(void)
{
	struct gp_place place;

	GP_PLACE_HERE(place);
	victim_sp = place.sp;
	raise(SIGUSR1);
	__asm__ volatile("" : : : "memory");
}

static void goes_through_signal_frames(void **state)
{
	static char other_stack[1 << 16];
	const stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)};
	struct sigaction action = {.sa_handler = on_signal};

	sigaltstack(&stack, NULL);
	for (int on_other = 0; on_other < 2; on_other++) {
		action.sa_flags = on_other ? SA_ONSTACK : 0;
		sigaction(SIGUSR1, &action, NULL);
		for (int i = 0; i < 3; i++) {
			found_victim = false;
			raise_here();
			assert_true(found_victim);
			assert_true(frames_in_handler > 5);
			assert_int_equal(walk.last->root, 0);
			walk_here(&walk); /* the next walk must not use its memory wrongly */
			assert_int_equal(walk.last->root, 0);
		}
	}
}

/* ---- code without rules ---- */

static int stops_here(void *unused)
{
	(void)unused;
	for (int i = 0; i < 3; i++) {
		walk_here(&walk);
		assert_int_equal(walk.last->root, stuck_at_outermost(walk.last));
	}
	return 5;
}

static void stops_at_code_without_rules(void **state)
{
#if defined(__aarch64__)
	/* stp x29, x30, [sp, -16]!; mov x2, x0; mov x0, x1; blr x2; ldp x29, x30, [sp], 16; ret */
	static const uint32_t code[] = {0xa9bf7bfd, 0xaa0003e2, 0xaa0103e0,
					0xd63f0040, 0xa8c17bfd, 0xd65f03c0};
#else
	/* sub rsp, 8; mov rax, rdi; mov rdi, rsi; call rax; add rsp, 8; ret */
	static const uint8_t code[] = {0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0xf8, 0x48, 0x89,
				       0xf7, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
#endif
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	plugin_fn *call;

	assert_true(memory != MAP_FAILED);
	memcpy(memory, code, sizeof(code));
	__builtin___clear_cache(memory, (char *)memory + sizeof(code));
	assert_int_equal(mprotect(memory, 4096, PROT_READ | PROT_EXEC), 0);
	*(void **)&call = memory;
	assert_int_equal(call(stops_here, NULL), 5);
	munmap(memory, 4096);
}

/* ---- deep stacks ---- */

static struct gp_walk bare;

static __attribute__((noinline)) int go_deep(int depth)
{
	volatile int result;
	struct gp_place place;

	if (depth > 0) {
		result = go_deep(depth - 1);
		if (depth % 16 != 0)
			return result + 1;
	}
	GP_PLACE_HERE(place);
	uint64_t number = gp_walk(&walk, place);

	forget_walks(&bare);
	assert_int_equal(number, gp_walk(&bare, place));
	assert_int_equal(walk.last->count, bare.last->count);
	assert_int_equal(walk.last->root, bare.last->root);
	return 1;
}

static void keeps_the_innermost_of_deep_stacks(void **state)
{
	for (int depth = 480; depth < 560; depth++)
		go_deep(depth);
	assert_true(walk.last->count < GP_STACK_DEPTH);
	go_deep(2000);
}

/* ---- alternating calls ---- */

#define BELOW 16

static volatile size_t room_bytes = 1024; /* more than the distance between neighboring places */

static __attribute__((noinline)) int go_on(int depth)
{
	volatile char *room = __builtin_alloca(room_bytes);

	room[0] = (char)(depth > 0 ? go_on(depth - 1) : (int)walk_here(&walk));
	return room[0];
}

/*
 * Each place has its own stack depth, so that its frames do not have the addresses of its
 * neighbors' frames.
 */
static __attribute__((noinline)) int call_from(int place)
{
	volatile char *room = __builtin_alloca(64 + (size_t)place * 64);

	room[0] = (char)go_on(BELOW);
	return room[0];
}

/* Not in a register: a different callee-saved register would be part of the comparison. */
static uint64_t stepped_before;

static __attribute__((noinline)) uint64_t count_steps(int places)
{
	stepped_before = walk.stepped;
	for (int place = 0; place < places; place++)
		call_from(place);
	return walk.stepped - stepped_before;
}

static void remembers_alternating_calls(void **state)
{
	assert_true(count_steps(GP_WALK_WAYS) >= GP_WALK_WAYS * BELOW);
	assert_true(count_steps(GP_WALK_WAYS) < GP_WALK_WAYS * BELOW / 4);
	assert_true(count_steps(8 * GP_WALK_PASTS) >= 4 * GP_WALK_PASTS * BELOW);
	assert_true(count_steps(GP_WALK_WAYS) >= GP_WALK_WAYS * BELOW);
	assert_true(count_steps(GP_WALK_WAYS) < GP_WALK_WAYS * BELOW / 4);
}

/* ---- the steady state ---- */

/* From here on, any system call except exit_group kills the process. */
static void forbid_system_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(SKIPPED);
}

static void makes_no_system_call(void **state)
{
	int status;
	pid_t child;

	walk_here(&walk);
	child = fork();
	if (child == 0) {
		bool same = true;
		uint64_t first = 0;

		for (int i = 0; i < 10; i++) {
			if (i == 2)
				forbid_system_calls();
			for (int j = 0; j < 1000; j++) {
				uint64_t number = walk_here(&walk);

				same = same && (first == 0 || number == first);
				first = number;
			}
		}
		syscall(SYS_exit_group, same ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED) {
		print_message("skipped: a process cannot install a seccomp filter here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void ignore_module(const struct gp_module *module)
{
	(void)module;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forgets_unloaded_modules),
		cmocka_unit_test(a_module_is_emitted_once),
		cmocka_unit_test(never_waits_for_a_constructor),
		cmocka_unit_test(goes_through_signal_frames),
		cmocka_unit_test(stops_at_code_without_rules),
		cmocka_unit_test(keeps_the_innermost_of_deep_stacks),
		cmocka_unit_test(remembers_alternating_calls),
		cmocka_unit_test(makes_no_system_call),
	};

	if (getenv("O") == NULL) {
		printf("skipped: O is not set, so the plugins are not found\n");
		return 77;
	}
	if (gp_rule_table_init(ignore_module) != 0 || gp_stack_tree_init() != 0 ||
	    gp_stack_copy_init() != 0)
		return 1;
	gp_walk_init(&walk);
	gp_walk_init(&bare);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
