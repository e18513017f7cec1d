/* reads: for any content and any end of a stack, the walk reads no unreadable memory. */
#include "tests/unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stacks/stack_copy.h"
#include "stacks/rule_table.h"
#include "stacks/stack_tree.h"
#include "stacks/walk.h"
#include "tests/lib/dice.h"
#include "tests/lib/sanitizer.h"
#include "tests/stacks/stuck.h"

#define PAGE        4096
#define STACK_PAGES 4
#define WALKS       200000
#define PCS         4096

static struct gp_walk walk;

static __attribute__((noinline)) void walk_here(void)
{
	struct gp_place place;

	GP_PLACE_HERE(place);
	gp_walk(&walk, place);
	__asm__ volatile("" : : : "memory");
}

/* Maps STACK_PAGES pages followed by an inaccessible one; returns the end of the readable part. */
static char *map_stack(void)
{
	char *memory = mmap(NULL, (STACK_PAGES + 1) * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	assert_int_equal(mprotect(memory + STACK_PAGES * PAGE, PAGE, PROT_NONE), 0);
	return memory + STACK_PAGES * PAGE;
}

/* ---- a hand-made stack ---- */

/*
 * Calls a function on another stack.  Its unwind information does not know that, and leads beyond
 * the end of that stack.
 */
#if defined(__aarch64__)
__asm__(".text\n.type call_on, @function\ncall_on:\n"
	".cfi_startproc\n"
	"stp x19, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset x30, -8\n"
	"mov x19, sp\nmov sp, x1\n"
	"blr x0\n"
	"mov sp, x19\nldp x19, x30, [sp], #16\n.cfi_def_cfa_offset 0\n"
	"ret\n"
	".cfi_endproc\n.size call_on, .-call_on\n");
#else
__asm__(".text\n.type call_on, @function\ncall_on:\n"
	".cfi_startproc\n"
	"pushq %rbx\n.cfi_def_cfa_offset 16\n"
	"movq %rsp, %rbx\nmovq %rsi, %rsp\n"
	"callq *%rdi\n"
	"movq %rbx, %rsp\npopq %rbx\n.cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n.size call_on, .-call_on\n");
#endif
void call_on(void (*function)(void), char *stack_end);

static void stops_where_memory_ends(void **state)
{
	char *end = map_stack();

	for (int i = 0; i < 3; i++) {
		call_on(walk_here, end);
		assert_int_equal(walk.last->count, 2);
		assert_int_equal(walk.last->root, stuck_at_outermost(walk.last));
	}
	munmap(end - STACK_PAGES * PAGE, (STACK_PAGES + 1) * PAGE);
}

static void *returns_to;

static __attribute__((noinline)) void note_return_and_walk(void)
{
	returns_to = __builtin_return_address(0);
	walk_here();
	__asm__ volatile("" : : : "memory");
}

/*
 * An endless chain of frames leads into the page after the stack, which is unmapped at the second
 * walk.
 */
static void stops_at_memory_that_was_unmapped(void **state)
{
	char *end = map_stack();
	uint64_t *behind = (uint64_t *)(void *)end;

	assert_int_equal(mprotect(end, PAGE, PROT_READ | PROT_WRITE), 0);
	call_on(note_return_and_walk, end);
	for (uint32_t i = 0; i < PAGE / sizeof(*behind); i++)
		behind[i] = (uintptr_t)returns_to;
	for (int i = 0; i < 2; i++) {
		call_on(note_return_and_walk, end);
		assert_true(walk.last->count > 100);
	}
	assert_int_equal(mprotect(end, PAGE, PROT_NONE), 0);
	for (int i = 0; i < 2; i++) {
		call_on(note_return_and_walk, end);
		assert_int_equal(walk.last->count, 3);
	}
	munmap(end - STACK_PAGES * PAGE, (STACK_PAGES + 1) * PAGE);
}

/* ---- a stack overflow ---- */

static sigjmp_buf before;
static volatile uint32_t frames_in_handler;

static void on_overflow(int number)
{
	(void)number;
	walk_here();
	frames_in_handler = walk.last->count;
	siglongjmp(before, 1);
}

/* Varies the frame that first touches the end of the stack. */
static volatile int depth_limit = 1 << 30;

static __attribute__((noinline)) int run_over(int depth)
{
	volatile char block[200];

	block[depth % 200] = (char)depth;
	return depth < depth_limit ? run_over(depth + 1) + block[depth % 100] : 0;
}

static bool walks_from_one(int depth)
{
	frames_in_handler = 0;
	if (sigsetjmp(before, 1) == 0)
		run_over(depth);
	return frames_in_handler > 20;
}

/* Returns NULL if not all frames were walked. */
static void *overflow(void *right)
{
	static char handler_stack[1 << 16];
	const stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof(handler_stack)};
	stack_t old;

	gp_walk_init(&walk);
	sigaltstack(&stack, &old);
	for (int i = 0; i < 3; i++)
		if (!walks_from_one(i))
			right = NULL;
	sigaltstack(&old, NULL);
	return right;
}

static void walks_from_an_overflow(void **state)
{
	struct sigaction action = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK}, old;
	pthread_attr_t attributes;
	pthread_t thread;
	void *right;

	sigaction(SIGSEGV, &action, &old);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 128 << 10);
	assert_int_equal(pthread_create(&thread, &attributes, overflow, &walk), 0);
	pthread_join(thread, &right);
	pthread_attr_destroy(&attributes);
	sigaction(SIGSEGV, &old, NULL);
	assert_non_null(right);
	gp_walk_init(&walk);
}

/* ---- stacks of random words ---- */

static uint64_t dice = DICE;

static uint64_t roll(void)
{
	return roll_dice(&dice);
}

static uint64_t pcs[PCS];

/* Addresses of code of all kinds, from this program and the C library. */
static void gather_pcs(void)
{
	uint64_t starts[] = {(uint64_t)(uintptr_t)map_stack, (uint64_t)(uintptr_t)qsort,
			     (uint64_t)(uintptr_t)printf, (uint64_t)(uintptr_t)raise,
			     (uint64_t)(uintptr_t)pthread_create};

	for (int i = 0; i < PCS; i++)
		pcs[i] = starts[roll() % 5] + roll() % 2000;
}

static uint64_t any_word(const char *stack_end)
{
	uint64_t within = (uint64_t)(uintptr_t)stack_end - roll() % (STACK_PAGES * PAGE + 64);

	switch (roll() % 16) {
	case 0:
		return roll();
	case 1:
		return (uint64_t)(uintptr_t)&within + roll() % 65536;
	case 2:
		return (uint64_t)(uintptr_t)&within - roll() % (16 << 20);
	case 3:
		return within;
	default:
		return roll() % 3 ? pcs[roll() % PCS] : within & ~(uint64_t)7;
	}
}

static void accepts_any_stack(void **state)
{
	char *end = map_stack();
	uint64_t *words = (uint64_t *)(end - STACK_PAGES * PAGE);
	uint64_t frames = 0;
	uint32_t deepest = 0;

	gather_pcs();
	for (int i = 0; i < WALKS; i++) {
		struct gp_place place = {.pc = pcs[roll() % PCS], .bp = any_word(end)};

		for (int j = 0; j < 64; j++)
			words[roll() % (STACK_PAGES * PAGE / 8)] = any_word(end);
		place.sp =
			((uint64_t)(uintptr_t)end - roll() % (STACK_PAGES * PAGE)) & ~(uint64_t)7;
		gp_walk(&walk, place);
		assert_true(walk.last->count >= 1 && walk.last->count <= GP_STACK_DEPTH);
		frames += walk.last->count;
		deepest = walk.last->count > deepest ? walk.last->count : deepest;
	}
	print_message("%.1f frames on average, %u at most\n", (double)frames / WALKS, deepest);
	assert_true(deepest > 5);
	munmap(words, (STACK_PAGES + 1) * PAGE);
}

static void accepts_any_frame_pointer(void **state)
{
	char *end = map_stack();

	for (int i = 0; i < WALKS; i++) {
		struct gp_place place;

		GP_PLACE_HERE(place);
		place.pc = pcs[roll() % PCS];
		place.bp = any_word(end);
#if defined(__x86_64__)
		for (int j = 0; j < GP_KEPT_REGISTERS; j++)
			place.kept[j] = any_word(end);
#endif
		gp_walk(&walk, place);
		assert_true(walk.last->count >= 1 && walk.last->count <= GP_STACK_DEPTH);
	}
	munmap(end - STACK_PAGES * PAGE, (STACK_PAGES + 1) * PAGE);
}

static void ignore_module(const struct gp_module *module)
{
	(void)module;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stops_where_memory_ends),
		cmocka_unit_test(stops_at_memory_that_was_unmapped),
		cmocka_unit_test(walks_from_an_overflow),
		cmocka_unit_test(accepts_any_stack),
		cmocka_unit_test(accepts_any_frame_pointer),
	};

	if (UNDER_TSAN) {
		puts("skipped: ThreadSanitizer reports reads of other frames as races");
		return 77;
	}
	if (gp_rule_table_init(ignore_module) != 0 || gp_stack_tree_init() != 0 ||
	    gp_stack_copy_init() != 0)
		return 1;
	gp_walk_init(&walk);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
