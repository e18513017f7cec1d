#include "stacks/merge.h"

#include <errno.h>

#include "collector/atomic.h"
#include "stacks/stack_hash.h"
#include "stacks/memory.h"
#include "stacks/modules.h"

#define MOST_PAIRS  (1u << 18)
#define MOST_TRIES  64u /* after that, a pair is merged each time */
#define BUDGET_PART 32  /* of --max-memory */

struct pair {
	uint64_t key; /* atomic; from both stacks' hashes, 0 = free */
	uint64_t id;  /* atomic; 0 = a thread is merging it now */
};

static struct pair *pairs;
static uint32_t pair_limit; /* a power of two */
static uint32_t pair_shift; /* for a key: its highest bits are the slot */

int gp_merge_init(void)
{
	if (pairs != NULL)
		return 0;
	pair_limit =
		(uint32_t)(gp_memory_budget_share_pow2(MOST_PAIRS * sizeof(*pairs), BUDGET_PART) /
			   sizeof(*pairs));
	pair_shift = (uint32_t)__builtin_clz(pair_limit) + 33;
	pairs = gp_memory_map(pair_limit * sizeof(*pairs));
	return pairs != NULL ? 0 : -ENOMEM;
}

void gp_merge_forget(void)
{
	gp_memory_clear(pairs, pair_limit * sizeof(*pairs));
}

/* ---- the table of pairs ---- */

/* The pair's entry, possibly new; NULL = no free slot nearby. */
static struct pair *find_pair(uint64_t key)
{
	uint32_t at = (uint32_t)(key >> pair_shift);

	for (uint32_t i = 0; i < MOST_TRIES; i++, at = (at + 1) & (pair_limit - 1)) {
		uint64_t found = gp_load64(&pairs[at].key);

		if (found == 0 && gp_replace64(&pairs[at].key, 0, key))
			return &pairs[at];
		if (gp_load64(&pairs[at].key) == key)
			return &pairs[at];
	}
	return NULL;
}

/* ---- merging ---- */

static uint32_t flags_of(const struct gp_frame *frame)
{
	return gp_modules_flags(gp_rule_module(frame->rule));
}

/* Number of frames without those of CUDA and gpuprof at the inner end. */
static uint32_t count_users(const struct gp_walk *walk)
{
	uint32_t count = walk->last->count;

	while (count > 0 && (flags_of(&walk->last->frames[count - 1]) & GP_MODULE_BELOW))
		count--;
	return count;
}

static void put_step(struct gp_merge *merge, uint32_t kind, uint32_t origin, uint64_t address)
{
	if (merge->count < sizeof(merge->steps) / sizeof(merge->steps[0]))
		merge->steps[merge->count++] = (struct gp_merge_step){kind, origin, address};
}

/* The Python frames; those before `next` were already put. */
struct pending {
	const struct gp_python_frame *frames;
	uint32_t count;
	uint32_t next;
	bool is_cut;
};

/*
 * Put one activation, up to its last frame.  The outermost activation has no last frame if the
 * stack is truncated.
 */
static void put_activation(struct gp_merge *merge, struct pending *pending)
{
	bool ends = false;

	for (; pending->next < pending->count && !ends; pending->next++) {
		const struct gp_python_frame *frame = &pending->frames[pending->next];

		put_step(merge, GP_FRAME_PYTHON, frame->code_id, frame->offset);
		ends = frame->activation != 0;
	}
	if (!ends && pending->is_cut) {
		put_step(merge, GP_FRAME_CUT, 0, 0);
		pending->is_cut = false;
	}
}

/* The address of the next activation, as in gp_python_frame; 0 = truncated. */
static uint64_t next_activation(const struct pending *pending)
{
	for (uint32_t i = pending->next; i < pending->count; i++)
		if (pending->frames[i].activation != 0)
			return pending->frames[i].activation;
	return 0;
}

/* Whether the next activation is native frame `at`. */
static bool is_activation(const struct gp_walk *walk, uint32_t at, const struct pending *pending)
{
	const struct gp_frame *own = &walk->last->frames[at];
	uint64_t address = next_activation(pending);

	if (pending->next == pending->count && !pending->is_cut)
		return false;
	if (address == 0) /* the rest of it lies in frames of the interpreter */
		return (flags_of(own) & GP_MODULE_PYTHON) != 0;
	if (address == 1)
		return gp_python_is_evaluator(own->pc);
	if (at == 0) /* its end is unknown */
		return address >= own->sp && (flags_of(own) & GP_MODULE_PYTHON) != 0;
	return address >= own->sp && address < walk->last->frames[at - 1].sp;
}

static uint32_t add_frames(const struct gp_merge *merge, uint32_t root)
{
	for (uint32_t i = merge->count; i > 0; i--) {
		const struct gp_merge_step *step = &merge->steps[i - 1];

		root = gp_stack_tree_child(root, step->kind, step->origin, step->address);
	}
	return root;
}

/*
 * Activations without a native frame (the thread's C stack was swapped, or ends early) go to the
 * outer end.
 */
static uint32_t interleave(struct gp_merge *merge, const struct gp_walk *walk,
			   struct pending pending)
{
	bool has_python = pending.count > 0;

	merge->count = 0;
	for (uint32_t at = count_users(walk); at > 0; at--) {
		if (is_activation(walk, at - 1, &pending))
			put_activation(merge, &pending);
		else if (!has_python || !(flags_of(&walk->last->frames[at - 1]) & GP_MODULE_PYTHON))
			put_step(merge, GP_FRAME_NATIVE,
				 gp_rule_module(walk->last->frames[at - 1].rule),
				 walk->last->frames[at - 1].pc);
	}
	while (pending.next < pending.count || pending.is_cut)
		put_activation(merge, &pending);
	return add_frames(merge, walk->last->root);
}

/* gp_merge_stacks() without the cache. */
static uint32_t merge_now(struct gp_merge *merge, const struct gp_walk *walk,
			  const struct gp_python_walk *python_walk)
{
	struct pending pending = {0};

	if (python_walk != NULL)
		pending = (struct pending){.frames = python_walk->last->frames,
					   .count = python_walk->last->count,
					   .is_cut = python_walk->last->is_cut};
	return interleave(merge, walk, pending);
}

/* *is_known becomes false if the trace lacks parts of the stack: the next capture tries again. */
static uint32_t find_merged(struct gp_merge *merge, uint64_t key, const struct gp_walk *walk,
			    const struct gp_python_walk *python_walk, bool *is_known)
{
	struct pair *pair = find_pair(key);
	uint32_t id = pair != NULL ? (uint32_t)gp_load64_acquire(&pair->id) : 0;

	if (id != 0)
		return id;
	id = merge_now(merge, walk, python_walk);
	*is_known = id != GP_NO_NODE && gp_stack_tree_emit(id);
	if (pair != NULL && *is_known)
		gp_store64_release(&pair->id, id);
	return id;
}

uint32_t gp_merge_stacks(struct gp_merge *merge, const struct gp_walk *walk, uint64_t native,
			 const struct gp_python_walk *python_walk, uint64_t python)
{
	uint64_t key = gp_stack_hash_add(gp_stack_hash_add(0, native), python) | 1;
	uint32_t at = (uint32_t)(key >> (64 - GP_MERGE_LAST_BITS));

	if (key != merge->last[at].pair) {
		bool is_known = true;

		merge->last[at].id =
			find_merged(merge, key, walk, python != 0 ? python_walk : NULL, &is_known);
		merge->last[at].pair = is_known ? key : 0;
	}
	return merge->last[at].id;
}
