/*
 * Compares the walk with memory with the walk without memory, and with libunwind, in programs that
 * are difficult for both: see tests/stacks/adversary.py.  GPUPROF_TEST_CAPTURES and
 * GPUPROF_TEST_SEED make it run longer, or with other random numbers.
 */
#include "tests/unit.h"

#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "stacks/rule_table.h"
#include "stacks/stack_tree.h"
#include "stacks/walk.h"
#include "tests/stacks/forget.h"
#include "tests/lib/dice.h"
#include "tests/lib/sanitizer.h"
#include "tests/stacks/adversary.h"

#define FIBERS       7 /* stacks of each thread; the first is its own stack */
#define PLACES       24
#define DEPTH        22
#define FIBER_DEPTH  9
#define ORACLE_EVERY 16u
#define THREADS      2
#define CAPTURES     (UNDER_ASAN || UNDER_TSAN ? 100000 : 1000000) /* make soak has more */

#define TABLES(X)                                                                                  \
	X(c_o0) X(c_o1) X(c_o2) X(c_o3) X(c_fp) X(c_other) X(cpp_o0) X(cpp_o2) X(cpp_other)

#define X(name)                                                                                    \
	extern adversary_function *const name##_table[];                                           \
	extern const int name##_count;
TABLES(X)
#undef X
adversary_function cpp_o2_guard;

static const struct {
	adversary_function *const *functions;
	const int *count;
} tables[] = {
#define X(name) {name##_table, &name##_count},
	TABLES(X)
#undef X
};

/*
 * The C++ library's per-thread state of exceptions that are being handled.  Each fiber needs its
 * own.
 */
struct handled {
	void *caught;
	unsigned uncaught;
};
struct handled *__cxa_get_globals(void);

struct fiber {
	ucontext_t context;
	jmp_buf places[PLACES];
	int place_count;
	char *stack; /* NULL = not running */
	size_t stack_bytes;
	struct handled handled;
};

static __thread struct {
	uint64_t dice;
	struct fiber fibers[FIBERS];
	int current;
	int finished; /* a finished fiber, whose stack can be freed */
	long captures;
	long wanted;
	long frames;
	long oracle;
	long again;    /* number of walks whose collected slots were unchanged */
	long differed; /* number of walks whose collected slots had changed */
	struct gp_walk *memory;
	struct gp_walk *bare;
} self;

/* ---- functions for the generated code ---- */

unsigned adversary_random(unsigned limit)
{
	return (unsigned)(roll_dice(&self.dice) >> 32) % limit;
}

adversary_function *adversary_pick(void)
{
	unsigned table = adversary_random(sizeof(tables) / sizeof(tables[0]));

	return tables[table].functions[adversary_random((unsigned)*tables[table].count)];
}

void adversary_keep(void *memory)
{
	__asm__ volatile("" : : "r"(memory) : "memory");
}

long adversary_sum(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j)
{
	adversary_visit(0);
	return (long)((unsigned long)a + (unsigned long)b + (unsigned long)c + (unsigned long)d +
		      (unsigned long)e + (unsigned long)f + (unsigned long)g + (unsigned long)h +
		      (unsigned long)i + (unsigned long)j);
}

jmp_buf *adversary_push_jump(void)
{
	struct fiber *fiber = &self.fibers[self.current];

	return fiber->place_count < PLACES ? &fiber->places[fiber->place_count++] : NULL;
}

void adversary_pop_jump(void)
{
	self.fibers[self.current].place_count--;
}

int adversary_jumps(void)
{
	return self.fibers[self.current].place_count;
}

void adversary_set_jumps(int count)
{
	self.fibers[self.current].place_count = count;
}

void adversary_jump(void)
{
	struct fiber *fiber = &self.fibers[self.current];

	if (fiber->place_count == 0)
		return;
	fiber->place_count = (int)adversary_random((unsigned)fiber->place_count);
	longjmp(fiber->places[fiber->place_count], 1);
}

/* ---- fibers ---- */

static void switch_to(int next)
{
	int own = self.current;

	self.fibers[own].handled = *__cxa_get_globals();
	*__cxa_get_globals() = self.fibers[next].handled;
	self.current = next;
	swapcontext(&self.fibers[own].context, &self.fibers[next].context);
	if (self.finished != 0) {
		struct fiber *gone = &self.fibers[self.finished];

		munmap(gone->stack, gone->stack_bytes);
		gone->stack = NULL;
		self.finished = 0;
	}
}

static void run_fiber(void)
{
	cpp_o2_guard(FIBER_DEPTH, 1);
	self.finished = self.current;
	switch_to(0);
	abort();
}

static void start_fiber(struct fiber *fiber)
{
	fiber->stack_bytes = (96u + adversary_random(96)) * 4096u;
	fiber->stack = mmap(NULL, fiber->stack_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fiber->place_count = 0;
	fiber->handled = (struct handled){NULL, 0};
	getcontext(&fiber->context);
	fiber->context.uc_stack.ss_sp = fiber->stack;
	fiber->context.uc_stack.ss_size = fiber->stack_bytes;
	fiber->context.uc_link = NULL;
	makecontext(&fiber->context, run_fiber, 0);
}

void adversary_switch(int depth)
{
	int next = (int)adversary_random(FIBERS);

	if (next == self.current || depth < 2)
		return;
	if (next != 0 && self.fibers[next].stack == NULL)
		start_fiber(&self.fibers[next]);
	switch_to(next);
}

/* ---- comparing ---- */

static void fail_at(uint32_t at, const char *what)
{
	fprintf(stderr, "capture %ld, frame %u from outside: %s\n", self.captures, at, what);
	abort();
}

static void compare_with_bare(uint64_t number, struct gp_place place)
{
	const struct gp_past *memory = self.memory->last, *bare;

	forget_walks(self.bare);
	uint64_t bare_number = gp_walk(self.bare, place);

	bare = self.bare->last;
	if (bare_number != number || bare->count != memory->count)
		fail_at(memory->count, "another stack than the walk without memory finds");
	for (uint32_t i = 0; i < bare->count; i++)
		if (bare->frames[i].pc != memory->frames[i].pc ||
		    bare->frames[i].sp != memory->frames[i].sp)
			fail_at(i, "not what the walk without memory finds");
}

/*
 * libunwind walks beyond the end of a fiber's stack, so it is asked for at most as many frames as
 * we have.
 */
static void compare_with_libunwind(unw_context_t *context)
{
	const struct gp_past *walk = self.memory->last;
	unw_cursor_t cursor;
	unw_word_t pc, sp;

	unw_init_local(&cursor, context);
	for (uint32_t i = walk->count; i-- > 0;) {
		unw_get_reg(&cursor, UNW_REG_IP, &pc);
		unw_get_reg(&cursor, UNW_REG_SP, &sp);
		if ((i + 1 < walk->count && pc != walk->frames[i].pc) || sp != walk->frames[i].sp)
			fail_at(i, "not what libunwind finds");
		if (i == 0 && self.current != 0)
			break;
		int left = unw_step(&cursor);

		if ((left > 0) != (i > 0))
			fail_at(i, "libunwind ends elsewhere");
	}
	self.oracle++;
}

/* The remembered walk from this place with collected slots, or NULL. */
static const struct gp_past *find_known(const struct gp_place *place)
{
	for (uint32_t i = 0; i < GP_WALK_PASTS; i++)
		if (self.memory->pasts[i].slot_count != 0 && self.memory->pasts[i].sp == place->sp)
			return &self.memory->pasts[i];
	return NULL;
}

/*
 * Counts whether the collected slots were unchanged.  Sometimes repeats the walk, so that its slots
 * are collected for the next one.
 */
static uint64_t walk_with_memory(struct gp_place place)
{
	const struct gp_past *known = find_known(&place);
	uint64_t number = gp_walk(self.memory, place);

	if (known != NULL && known->slot_count != 0)
		self.again++;
	else if (known != NULL)
		self.differed++;
	for (unsigned i = adversary_random(2); i < 2; i++)
		if (gp_walk(self.memory, place) != number)
			fail_at(0, "the same walk once more finds another stack");
	return number;
}

/* One function that the compiler does not transform: both walks begin in its frame. */
static __attribute__((noinline)) void capture(void)
{
	unw_context_t context;
	struct gp_place place;

	unw_getcontext(&context);
	GP_PLACE_HERE(place);
	uint64_t number = walk_with_memory(place);

	self.captures++;
	self.frames += self.memory->last->count;
	if (self.memory->last->root != 0)
		fail_at(0, "the stack does not end where it begins");
	compare_with_bare(number, place);
	if (self.captures % ORACLE_EVERY == 0)
		compare_with_libunwind(&context);
}

void adversary_visit(int depth)
{
	(void)depth;
	if (adversary_random(2) == 0 && self.captures < self.wanted)
		capture();
}

static long from_environment(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text != NULL ? atol(text) : otherwise;
}

static void *run_thread(void *seed)
{
	self.dice = (uint64_t)(uintptr_t)seed * 0x9e3779b97f4a7c15u;
	self.wanted = from_environment("GPUPROF_TEST_CAPTURES", CAPTURES) / THREADS;
	self.memory = calloc(1, sizeof(*self.memory));
	self.bare = calloc(1, sizeof(*self.bare));
	gp_walk_init(self.memory);
	gp_walk_init(self.bare);
	while (self.captures < self.wanted) {
		cpp_o2_guard(2 + (int)adversary_random(DEPTH - 2), self.captures);
		self.fibers[0].place_count = 0;
	}
	print_message(
		"%ld captures with %.1f frames, of which %.1f validated, %.1f stepped; %ld unchanged, "
		"%ld not; %ld compared with libunwind\n",
		self.captures, (double)self.frames / (double)self.captures,
		(double)self.memory->validated / (double)self.captures,
		(double)self.memory->stepped / (double)self.captures, self.again, self.differed,
		self.oracle);
	free(self.memory);
	free(self.bare);
	return NULL;
}

static void agrees_in_adversarial_programs(void **state)
{
	pthread_t threads[THREADS];
	long seed = from_environment("GPUPROF_TEST_SEED", 1);

	unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_PER_THREAD);
	for (long i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_thread,
						(void *)(uintptr_t)(seed * THREADS + i)),
				 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

#if UNDER_ASAN
const char *__lsan_default_options(void);

/* Jumps leak the objects of the skipped frames. */
const char *__lsan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

static void ignore_module(const struct gp_module *module)
{
	(void)module;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_in_adversarial_programs),
	};

	if (UNDER_TSAN) {
		puts("skipped: ThreadSanitizer cannot follow programs that switch stacks and jump");
		return 77;
	}
	if (gp_rule_table_init(ignore_module) != 0 || gp_stack_tree_init() != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
