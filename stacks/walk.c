#include "stacks/walk.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "collector/sys.h"
#include "stacks/stack_hash.h"
#include "stacks/modules.h"
#include "stacks/rule_table.h"
#include "stacks/thread_memory.h"

#define WORD       8u
#define LEAST_PC   4096u
#define PAGE_BYTES 4096u
/* a larger distance from its end means another stack */
#define MOST_STACK_BYTES ((uint64_t)1 << 30)
#define MOST_FRAME_BYTES ((uint64_t)8 << 20)
/* Offsets from sp, at the code to which a signal handler returns, to the saved registers. */
#if defined(__aarch64__)
#define SIGNAL_INFO_BYTES 128u /* before the ucontext */
#define SAVED_BP          (SIGNAL_INFO_BYTES + offsetof(ucontext_t, uc_mcontext.regs[29]))
#define SAVED_SP          (SIGNAL_INFO_BYTES + offsetof(ucontext_t, uc_mcontext.sp))
#define SAVED_PC          (SIGNAL_INFO_BYTES + offsetof(ucontext_t, uc_mcontext.pc))
#else
#define SAVED_BP 120u
#define SAVED_SP 160u
#define SAVED_PC 168u
#endif

#define MODULE_SHIFT 47u /* above the bits of an address */

#define NO_EPOCH UINT32_MAX /* remembered data is invalid */

#define ALWAYS_INLINE inline __attribute__((always_inline))

enum outcome { CONTINUES, ENDED, STOPPED };

static enum gp_rule_kind kind_of(const struct gp_frame *frame)
{
	return gp_rule_kind(frame->rule);
}

/* Walks of hostile stacks may read any word of the stack: a sanitizer would object. */
__attribute__((no_sanitize("address", "thread"))) static uint64_t word_at(uint64_t address)
{
	return *(const uint64_t *)address;
}

/* The location of the caller's rbp, for a frame that ends at cfa. */
static uint64_t saved_bp(const struct gp_frame *frame, uint64_t cfa)
{
	return cfa + (uint64_t)gp_rule_saved(frame->rule) * WORD;
}

static uint64_t return_slot(const struct gp_frame *frame, uint64_t cfa)
{
	return cfa + (uint64_t)gp_rule_return(frame->rule) * WORD;
}

/*
 * An address above all frames of the thread: the kernel's random bytes for the program, or the
 * thread's own data, which the C library places at the end of its stack.
 */
void gp_walk_init(struct gp_walk *walk)
{
	bool is_first_thread = gp_sys_thread_id() == gp_sys_process_id();

	walk->high = is_first_thread ? getauxval(AT_RANDOM) : (uint64_t)pthread_self();
	walk->high -= walk->high % WORD;
	walk->low = walk->high - walk->high % PAGE_BYTES;
	walk->taken = (1u << GP_WALK_FIRST_PASTS) - 1;
	walk->last = &walk->pasts[0];
}

/* ---- readable memory ---- */

static ALWAYS_INLINE bool is_own(const struct gp_walk *walk, uint64_t address)
{
	return address - walk->low < walk->high - walk->low;
}

/*
 * Whether sp is on the thread's own stack: then everything up to the stack's end is readable.  The
 * result is cached, because neither end moves while the thread lives.
 */
static bool reach(struct gp_walk *walk, uint64_t sp)
{
	if (sp >= walk->low || sp < walk->limit || walk->high - sp > MOST_STACK_BYTES)
		return is_own(walk, sp);
	while (walk->low > sp) {
		if (!gp_sys_can_read(walk->low - PAGE_BYTES)) {
			walk->limit = walk->low;
			return false;
		}
		walk->low -= PAGE_BYTES;
	}
	return true;
}

/*
 * Other stacks have no known end, and hand-made frames may lead beyond it.  Results are cached
 * until the walk ends: memory behind such a stack may be unmapped at the next walk.
 */
static __attribute__((noinline)) bool is_readable_elsewhere(struct gp_walk *walk, uint64_t address)
{
	uint64_t page = address / PAGE_BYTES;

	for (uint32_t i = 0; i < GP_WALK_PAGES; i++)
		if (walk->pages[i] == page && page != 0)
			return true;
	if (!gp_sys_can_read(address))
		return false;
	walk->pages[walk->next_page++ % GP_WALK_PAGES] = page;
	return true;
}

static void forget_pages(struct gp_walk *walk)
{
	if (walk->next_page == 0)
		return;
	memset(walk->pages, 0, sizeof(walk->pages));
	walk->next_page = 0;
}

static ALWAYS_INLINE bool is_readable(struct gp_walk *walk, uint64_t address)
{
	return __builtin_expect(is_own(walk, address), 1) || is_readable_elsewhere(walk, address);
}

/*
 * From here to step(): inlined, so that a walk keeps its frame in registers; half of its time is
 * load latency.
 */
static ALWAYS_INLINE bool read_word(struct gp_walk *walk, uint64_t address, uint64_t *word)
{
	if (address % WORD != 0 || !is_readable(walk, address))
		return false;
	*word = word_at(address);
	return true;
}

/* ---- one step ---- */

/*
 * A frame lies above the previous one and is not absurdly large; on the thread's own stack it ends
 * before the stack does.
 */
static ALWAYS_INLINE bool is_plausible(const struct gp_walk *walk, uint64_t sp, uint64_t cfa)
{
	return cfa > sp && cfa % WORD == 0 && cfa - sp <= MOST_FRAME_BYTES &&
	       (!is_own(walk, sp) || cfa <= walk->high);
}

static ALWAYS_INLINE enum outcome step_signal(struct gp_walk *walk, const struct gp_frame *own,
					      struct gp_frame *caller)
{
	if (!read_word(walk, own->sp + SAVED_PC, &caller->pc) ||
	    !read_word(walk, own->sp + SAVED_SP, &caller->sp) ||
	    !read_word(walk, own->sp + SAVED_BP, &caller->bp))
		return STOPPED;
	caller->pc++; /* no call precedes it: the instruction itself */
	return caller->sp % WORD == 0 && caller->sp >= LEAST_PC ? CONTINUES : STOPPED;
}

static ALWAYS_INLINE bool find_cfa(struct gp_walk *walk, const struct gp_frame *own, uint64_t *cfa)
{
	uint64_t base = kind_of(own) == GP_RULE_SP ? own->sp : own->bp;

	*cfa = base + (uint64_t)gp_rule_offset(own->rule) * WORD;
	if (kind_of(own) == GP_RULE_REALIGNED &&
	    (!is_plausible(walk, own->sp, own->bp + WORD) || !read_word(walk, *cfa, cfa)))
		return false;
	return is_plausible(walk, own->sp, *cfa);
}

static ALWAYS_INLINE enum outcome step_regular(struct gp_walk *walk, const struct gp_frame *own,
					       struct gp_frame *caller)
{
	uint64_t cfa;
	bool right = true;

	if (!find_cfa(walk, own, &cfa) || !read_word(walk, return_slot(own, cfa), &caller->pc))
		return STOPPED;
	caller->pc = gp_return_address(caller->pc);
	caller->sp = cfa;
	caller->bp = own->bp;
	if (kind_of(own) == GP_RULE_REALIGNED)
		right = read_word(walk, own->bp, &caller->bp);
	else if (gp_rule_saved(own->rule) != 0)
		right = read_word(walk, saved_bp(own, cfa), &caller->bp);
	if (!right)
		return STOPPED;
	return caller->pc >= LEAST_PC ? CONTINUES : ENDED;
}

/* From a frame with a known rule to its caller's frame, without the caller's rule. */
static ALWAYS_INLINE enum outcome step(struct gp_walk *walk, const struct gp_frame *own,
				       struct gp_frame *caller)
{
	switch (kind_of(own)) {
	case GP_RULE_SP:
	case GP_RULE_BP:
	case GP_RULE_REALIGNED:
		return step_regular(walk, own, caller);
	case GP_RULE_SIGNAL:
		return step_signal(walk, own, caller);
	case GP_RULE_END:
		return ENDED;
	default:
		return STOPPED;
	}
}

/* ---- remembered walks ---- */

static bool is_usable(const struct gp_walk *walk, const struct gp_past *past)
{
	return past->count != 0 && past->epoch == walk->epoch;
}

/*
 * The index of the tag in a set, GP_WALK_WAYS = none.  Without branches, because the index is hard
 * to predict.
 */
static uint32_t find_tag(const uint32_t tags[GP_WALK_WAYS], uint32_t tag)
{
	uint32_t matches = 1u << GP_WALK_WAYS;

	for (uint32_t way = 0; way < GP_WALK_WAYS; way++)
		matches |= (uint32_t)(tags[way] == tag) << way;
	return (uint32_t)__builtin_ctz(matches);
}

/*
 * Select the slot for a walk from sp, as walk->last; returns the walk to compare it with, possibly
 * the same, NULL = none.  Tags may collide between stacks, and need not be right.
 */
static struct gp_past *recall(struct gp_walk *walk, uint64_t sp)
{
	struct gp_past *before = walk->last;
	uint32_t tag = (uint32_t)(sp / WORD);

	if (tag == walk->last_tag)
		return is_usable(walk, before) ? before : NULL;
	uint32_t set = (tag * 0x9e3779b1u) >> 16 & (GP_WALK_SETS - 1);
	uint32_t way = find_tag(walk->tags[set], tag);

	walk->last_tag = tag;
	if (way == GP_WALK_WAYS) {
		way = walk->next_way++ % GP_WALK_WAYS;
		/* without memory the last one is overwritten */
		if (gp_thread_memory_take(&walk->taken, set * GP_WALK_WAYS + way,
					  sizeof(*before))) {
			walk->tags[set][way] = tag;
			walk->last = &walk->pasts[set * GP_WALK_WAYS + way];
		}
	} else {
		walk->last = &walk->pasts[set * GP_WALK_WAYS + way];
		if (is_usable(walk, walk->last))
			return walk->last;
	}
	return is_usable(walk, before) ? before : NULL;
}

static bool is_same_state(const struct gp_frame *a, const struct gp_frame *b)
{
	return a->pc == b->pc && a->sp == b->sp && a->bp == b->bp;
}

static bool is_simple(const struct gp_frame *frame)
{
	return kind_of(frame) <= GP_RULE_BP;
}

/* For slots that a remembered walk has read. */
static ALWAYS_INLINE bool still_holds(struct gp_walk *walk, uint64_t address, uint64_t word)
{
	return is_readable(walk, address) && word_at(address) == word;
}

static ALWAYS_INLINE bool still_returns(struct gp_walk *walk, uint64_t address, uint64_t pc)
{
	return is_readable(walk, address) && gp_return_address(word_at(address)) == pc;
}

/* The outermost frame whose state is still valid, given that of frames[at] is. */
static uint32_t validate(struct gp_walk *walk, const struct gp_past *past, uint32_t at)
{
	const struct gp_frame *own = &past->frames[at];

	for (; at > 0 && is_simple(own); at--, own--) {
		const struct gp_frame *caller = own - 1;

		if (!still_returns(walk, return_slot(own, caller->sp), caller->pc))
			break;
		if (gp_rule_saved(own->rule) != 0 &&
		    !still_holds(walk, saved_bp(own, caller->sp), caller->bp))
			break;
	}
	return at;
}

/* Whether the walk that ended at frames[0] must end there again. */
static bool is_final(const struct gp_past *past)
{
	return kind_of(&past->frames[0]) == GP_RULE_END;
}

/* ---- the new walk ---- */

static uint32_t module_of(const struct gp_frame *frame)
{
	return gp_rule_module(frame->rule);
}

static void copy_outermost(struct gp_past *past, const struct gp_past *other, uint32_t count)
{
	past->root = other->root;
	memcpy(past->frames, other->frames, count * sizeof(past->frames[0]));
	memcpy(past->hashes, other->hashes, count * sizeof(past->hashes[0]));
}

/* Put the new frames, innermost first, on top of the `kept` outermost ones of a remembered walk. */
static void rebuild(struct gp_walk *walk, const struct gp_past *other, uint32_t kept)
{
	struct gp_past *past = walk->last;

	if (kept > 0 && other != past)
		copy_outermost(past, other, kept);

	uint64_t hash = kept > 0 ? past->hashes[kept - 1] : gp_stack_hash_add(0, past->root);

	for (uint32_t i = walk->fresh_count; i > 0; i--) {
		const struct gp_frame *frame = &walk->fresh[i - 1];

		hash = gp_stack_hash_add(hash,
					 frame->pc + ((uint64_t)module_of(frame) << MODULE_SHIFT));
		past->frames[kept] = *frame;
		past->hashes[kept++] = hash;
	}
	past->count = kept;
	past->number = hash;
}

/* The node for the callers of a frame without a usable rule. */
static uint32_t find_stop(struct gp_walk *walk)
{
	const struct gp_frame *outermost = &walk->fresh[walk->fresh_count - 1];
	uint32_t id = 0;

	if (kind_of(outermost) == GP_RULE_IRREGULAR && walk->is_on_own)
		id = gp_stack_copy_keep(&walk->copy, &walk->place, walk->fresh, walk->fresh_count,
					walk->high);
	return id != 0 ? id
		       : gp_stack_tree_child(0, GP_FRAME_STUCK, module_of(outermost),
					     outermost->pc);
}

/* Set the parent of the outermost frame. */
static void set_root(struct gp_walk *walk, enum outcome outcome)
{
	uint32_t root = 0;

	if (outcome == CONTINUES)
		root = gp_stack_tree_child(0, GP_FRAME_CUT, 0, 0);
	else if (outcome == STOPPED)
		root = find_stop(walk);
	walk->last->root = root;
}

/* ---- repeated walks ---- */

static bool put_slot(const struct gp_walk *walk, struct gp_past *past, uint32_t *count,
		     uint64_t address)
{
	uint64_t at = (address - past->sp) / WORD;

	if (!is_own(walk, address) || at > GP_WALK_REACH || *count == GP_WALK_SLOTS)
		return false;
	past->slots[*count] = (uint16_t)at;
	past->words[(*count)++] = word_at(address);
	return true;
}

/*
 * The slots that a frame's step reads.  The slot of the caller's rbp matters only if a caller uses
 * its rbp: *counts, which is updated for this frame's own rbp.
 */
static bool put_slots(const struct gp_walk *walk, struct gp_past *past, uint32_t *count,
		      const struct gp_frame *own, bool *counts)
{
	const struct gp_frame *caller = own - 1;
	bool is_saved = gp_rule_saved(own->rule) != 0;
	uint64_t saved = saved_bp(own, caller->sp);

	if (!is_simple(own) || (is_saved && !is_own(walk, saved)) ||
	    !put_slot(walk, past, count, return_slot(own, caller->sp)) ||
	    (is_saved && *counts && !put_slot(walk, past, count, saved)))
		return false;
	*counts = kind_of(own) == GP_RULE_BP || (*counts && !is_saved);
	return true;
}

/* Innermost first: the order in which a walk reads them, and caches prefetch them. */
static void reverse_slots(struct gp_past *past, uint32_t count)
{
	for (uint32_t i = 0, j = count; i + 1 < j; i++) {
		uint16_t slot = past->slots[i];
		uint64_t word = past->words[i];

		past->slots[i] = past->slots[--j];
		past->words[i] = past->words[j];
		past->slots[j] = slot;
		past->words[j] = word;
	}
}

/*
 * Collect all slots that the last walk has read, if it stayed on the thread's own stack and reached
 * a frame without a caller: while they are unchanged, the result is the same.
 */
static void learn_slots(struct gp_walk *walk)
{
	struct gp_past *past = walk->last;
	uint32_t count = 0;
	bool counts = false;

	if (!is_final(past))
		return;
	past->pc = walk->place.pc;
	past->sp = walk->place.sp;
	past->bp = walk->place.bp;
	for (uint32_t at = 1; at < past->count; at++)
		if (!put_slots(walk, past, &count, &past->frames[at], &counts))
			return;
	reverse_slots(past, count);
	past->begins_with_bp = counts;
	past->slot_count = count;
}

/* Collect only if the result repeats; more rarely after each vain attempt. */
static void note_repeated(struct gp_walk *walk, bool is_same)
{
	struct gp_past *past = walk->last;

	past->slot_count = 0;
	past->repeated = is_same ? past->repeated + 1 : 0;
	if (is_same && (past->repeated & (past->repeated - 1)) == 0)
		learn_slots(walk);
}

/*
 * Whether a walk from this place has the result of a remembered one.  Reads no slot that such a
 * walk would not read.  On success the rbp values in its frames may be stale, but only if no caller
 * uses them.
 */
__attribute__((no_sanitize("address", "thread"))) static bool
is_repeated(const struct gp_past *past, const struct gp_place *place)
{
	const uint64_t *stack = (const uint64_t *)place->sp;
	uint32_t count = past->slot_count, i = 0;

	if (count == 0 || past->pc != place->pc || past->sp != place->sp ||
	    (past->begins_with_bp && past->bp != place->bp))
		return false;
	while (i < count && stack[past->slots[i]] == past->words[i])
		i++;
	return i == count;
}

/* ---- walking ---- */

/* Append the next frame, which has its rule. */
static ALWAYS_INLINE void keep_next(struct gp_walk *walk, const struct gp_frame *own)
{
	walk->fresh[walk->fresh_count++] = *own;
	walk->stepped++;
}

/* Without remembered walks.  The first frame is fresh[0]. */
static void walk_whole(struct gp_walk *walk)
{
	enum outcome outcome = CONTINUES;

	struct gp_frame own = walk->fresh[0], caller = {0};

	walk->fresh_count = 0;
	for (;;) {
		own.rule = gp_rule_table_find(own.pc);
		keep_next(walk, &own);
		if (kind_of(&own) == GP_RULE_END)
			outcome = ENDED;
		if (outcome == ENDED || walk->fresh_count == GP_STACK_DEPTH)
			break;
		outcome = step(walk, &own, &caller);
		if (outcome != CONTINUES)
			break;
		own = caller;
	}
	set_root(walk, outcome);
	rebuild(walk, NULL, 0);
}

/* Frames at - 1 to `last` of a remembered walk are valid: reuse them under other callers. */
static bool take_over(struct gp_walk *walk, const struct gp_past *past, uint32_t at, uint32_t last)
{
	if (walk->fresh_count + (at - last) >= GP_STACK_DEPTH)
		return false;
	while (at > last)
		walk->fresh[walk->fresh_count++] = past->frames[--at];
	return true;
}

/*
 * All frames of a remembered walk from at - 1 on are valid: whether its end is also the end of this
 * walk.
 */
static bool ends_as_before(struct gp_walk *walk, const struct gp_past *past, uint32_t at)
{
	const struct gp_frame *outermost = &past->frames[0];
	struct gp_frame beyond;

	if (is_final(past))
		return walk->fresh_count + at <= GP_STACK_DEPTH;
	if (kind_of(outermost) == GP_RULE_IRREGULAR) /* its callers are unknown */
		return false;
	enum outcome outcome = step(walk, outermost, &beyond);

	if (outcome == CONTINUES) /* it was truncated, and is the same */
		return past->count == GP_STACK_DEPTH && at == past->count;
	return walk->fresh_count + at < GP_STACK_DEPTH && (outcome == ENDED) == (past->root == 0);
}

static bool finish(struct gp_walk *walk, enum outcome outcome)
{
	set_root(walk, outcome);
	rebuild(walk, NULL, 0);
	return true;
}

/*
 * The rule of a frame; a frame with the same pc at the same place in a remembered walk has the same
 * rule.
 */
static ALWAYS_INLINE uint64_t find_rule(const struct gp_past *past, uint32_t at, uint64_t pc)
{
	return at > 0 && past->frames[at - 1].pc == pc ? past->frames[at - 1].rule
						       : gp_rule_table_find(pc);
}

/* False: a walk without memory is needed. */
static bool walk_by_memory(struct gp_walk *walk, const struct gp_past *past)
{
	uint32_t at = past->count;
	struct gp_frame own = walk->fresh[0], caller = {0};

	walk->fresh_count = 0;
	for (;;) {
		while (at > 0 && past->frames[at - 1].sp < own.sp)
			at--; /* returned, or reached by another path */
		if (at > 0 && is_same_state(&past->frames[at - 1], &own)) {
			uint32_t last = validate(walk, past, at - 1);

			walk->validated += at - last;
			if (last == 0 && ends_as_before(walk, past, at)) {
				rebuild(walk, past, at);
				return true;
			}
			if (last == 0 || !take_over(walk, past, at, last))
				return false;
			at = last;
			own = walk->fresh[--walk->fresh_count];
		} else {
			own.rule = find_rule(past, at, own.pc);
		}
		keep_next(walk, &own);
		if (walk->fresh_count == GP_STACK_DEPTH)
			return false;
		enum outcome outcome = step(walk, &own, &caller);

		if (outcome != CONTINUES)
			return finish(walk, outcome);
		own = caller;
	}
}

/* A signal stack may lie above its callers: such a walk is not remembered. */
static bool is_ascending(const struct gp_walk *walk)
{
	for (uint32_t i = 1; i < walk->fresh_count; i++)
		if (walk->fresh[i].sp < walk->fresh[i - 1].sp)
			return false;
	return true;
}

static void follow_modules(struct gp_walk *walk)
{
	uint32_t epoch = gp_modules_epoch();

	if (walk->epoch == epoch && walk->last->count != 0)
		return;
	gp_rule_table_follow_epoch(epoch);
	walk->epoch = epoch;
}

/* gp_walk() frame by frame; `past` is a walk to compare with, or NULL. */
static __attribute__((noinline)) uint64_t
walk_anew(struct gp_walk *walk, const struct gp_past *past, struct gp_place place)
{
	uint64_t before = past == walk->last ? past->number : 0;

	walk->place = place;
	walk->is_on_own = reach(walk, place.sp);
	walk->fresh[0] = (struct gp_frame){.pc = place.pc, .sp = place.sp, .bp = place.bp};
	if (past == NULL || !walk_by_memory(walk, past))
		walk_whole(walk);

	walk->last->epoch = is_ascending(walk) ? walk->epoch : NO_EPOCH;
	forget_pages(walk);
	note_repeated(walk, walk->last->number == before);
	return walk->last->number;
}

uint64_t gp_walk(struct gp_walk *walk, struct gp_place place)
{
	follow_modules(walk);
	const struct gp_past *past = recall(walk, place.sp);

	if (past != walk->last || !is_repeated(past, &place))
		return walk_anew(walk, past, place);
	walk->validated += past->count;
	return past->number;
}
