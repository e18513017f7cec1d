/*
 * walk with memory: repeated walks from one place of a slightly changing stack have the result of a
 * walk without memory.
 *
 * The stack consists of few words that are drawn at random repeatedly, so that most remembered
 * walks differ in one word, which may or may not matter.  The code has each kind of rule.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "collector/memory_budget.h"
#include "stacks/stack_copy.h"
#include "stacks/rule_table.h"
#include "stacks/stack_tree.h"
#include "stacks/walk.h"
#include "tests/lib/dice.h"
#include "tests/lib/sanitizer.h"
#include "tests/stacks/forget.h"

#define WORDS 32
#define WALKS 2000000

static struct gp_walk memory, bare;

/* ---- code that is never executed ---- */

#define BEGIN(name) ".type " name ", @function\n" name ":\n.cfi_startproc\n"
#define END(name)   ".fill 16, 1, 0x90\n.cfi_endproc\n.size " name ", .-" name "\n"

#if defined(__aarch64__)
#define BP "x29"
#define RA "x30"
/* the return address is far from the saved x29 */
#define REALIGNED ".cfi_def_cfa x29, 32\n.cfi_offset x29, -8\n.cfi_offset x30, -32\n"
#else
#define BP        "rbp"
#define RA        "rip"
#define REALIGNED ".cfi_escape 0x0f, 3, 0x76, 8, 0x06\n.cfi_escape 0x10, 6, 2, 0x76, 0\n"
#endif
#define SAVES_RA ".cfi_offset " RA ", -8\n"
#define SAVES_BP ".cfi_offset " BP ", -16\n"

__asm__(".text\n"
	/* by_sp: a frame of two words, rbp unchanged */
	BEGIN("by_sp") ".cfi_def_cfa_offset 16\n" SAVES_RA END("by_sp")
	/* saves_bp: a frame of three words, with rbp saved */
	BEGIN("saves_bp") ".cfi_def_cfa_offset 24\n" SAVES_RA SAVES_BP END("saves_bp")
	/* by_bp: with a frame pointer */
	BEGIN("by_bp") ".cfi_def_cfa " BP ", 16\n" SAVES_RA SAVES_BP END("by_bp")
	/* by_bp_alone: with a frame pointer that it does not save */
	BEGIN("by_bp_alone") ".cfi_def_cfa " BP ", 16\n" SAVES_RA END("by_bp_alone")
	/* outermost: without a caller */
	BEGIN("outermost") ".cfi_undefined " RA "\n" END("outermost")
	/* realigned: the compiler aligned the stack */
	BEGIN("realigned") REALIGNED END("realigned"));
void by_sp(void);
void saves_bp(void);
void by_bp(void);
void by_bp_alone(void);
void outermost(void);
void realigned(void);

/* ---- a stack ---- */

static uint64_t dice = DICE;

static uint64_t roll(void)
{
	return roll_dice(&dice) >> 16;
}

static uint64_t any_pc(void)
{
	static void (*const code[])(void) = {by_sp,     saves_bp, by_bp,       by_sp,    saves_bp,
					     outermost, by_bp,    by_bp_alone, saves_bp, realigned};
	uint64_t kind = roll() % 40;

	return (uint64_t)(uintptr_t)code[kind < 39 ? kind % 9 : 9] + 8;
}

static uint64_t any_place(const uint64_t *words)
{
	return (uint64_t)(uintptr_t)&words[4 + roll() % 4 * 6];
}

static uint64_t any_word(const uint64_t *words)
{
	return roll() % 3 != 0 ? any_pc() : any_place(words);
}

/* Both walks have the same frames and the same end. */
static void compare(const struct gp_past *found, const struct gp_past *right)
{
	assert_int_equal(found->count, right->count);
	assert_int_equal(found->root, right->root);
	assert_int_equal(found->number, right->number);
	for (uint32_t i = 0; i < right->count; i++) {
		assert_int_equal(found->frames[i].pc, right->frames[i].pc);
		assert_int_equal(found->frames[i].sp, right->frames[i].sp);
	}
}

static uint64_t again, differed;

static void walk_both(struct gp_place place)
{
	const struct gp_past *last = memory.last;
	bool was_known = last->slot_count != 0 && last->sp == place.sp && last->pc == place.pc;

	gp_walk(&memory, place);
	forget_walks(&bare);
	gp_walk(&bare, place);
	compare(memory.last, bare.last);
	again += was_known && last->slot_count != 0;
	differed += was_known && memory.last == last && last->slot_count == 0;
}

static void finds_what_a_walk_without_memory_finds(void **state)
{
	uint64_t words[WORDS];
	struct gp_place place = {.pc = any_pc(), .bp = any_place(words)};

	again = differed = 0;
	for (int i = 0; i < WORDS; i++)
		words[i] = any_word(words);
	for (int i = 0; i < WALKS; i++) {
		uint64_t what = roll() % 32;

		if (what == 0)
			place.pc = any_pc();
		else if (what < 3)
			place.bp = any_place(words);
		else if (what < 16)
			words[roll() % WORDS] = any_word(words);
		place.sp = (uint64_t)(uintptr_t)&words[roll() % 16 == 0];
		__asm__ volatile("" : : "r"(words) : "memory");
		walk_both(place);
	}
	print_message("%lu as before, %lu not\n", (unsigned long)again, (unsigned long)differed);
	assert_true(again > WALKS / 20 && differed > WALKS / 1000);
}

/*
 * Walks from other places overwrite the remembered walks.  The rules of the code are known by then.
 */
static void finds_the_same_without_memory_for_more_walks(void **state)
{
	gp_walk_init(&memory);
	forget_walks(&memory);
	gp_memory_budget_init(GP_MEMORY_BUDGET_FIXED_BYTES);
	finds_what_a_walk_without_memory_finds(state);
	assert_int_equal(memory.taken, 1);
	gp_memory_budget_init(0);
}

static void ignore_module(const struct gp_module *module)
{
	(void)module;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_a_walk_without_memory_finds),
		cmocka_unit_test(finds_the_same_without_memory_for_more_walks),
	};

	if (UNDER_TSAN) {
		puts("skipped: ThreadSanitizer reports reads of other frames as races");
		return 77;
	}
	if (gp_rule_table_init(ignore_module) != 0 || gp_stack_tree_init() != 0 ||
	    gp_stack_copy_init() != 0)
		return 1;
	gp_walk_init(&memory);
	gp_walk_init(&bare);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
