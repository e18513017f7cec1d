#include "stacks/stack_tree.h"

#include <errno.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "stacks/memory.h"

#define AT_ONCE     64u /* emitted frames per round */
#define MOST_ROUNDS (2 * GP_STACK_DEPTH / AT_ONCE + 2)
#define MOST_NODES  (1u << 21)
#define BUDGET_PART 12 /* of --max-memory, for the nodes; their index takes half as much */

struct node {
	uint32_t parent; /* 0 = none */
	uint32_t origin; /* like gp_record_frame.origin_id */
	uint64_t what;   /* the address, with its enum gp_frame_kind in the highest byte */
};

#define NODE_ADDRESS(node) ((node)->what & 0xffffffffffffffu)
#define NODE_KIND(node)    ((uint32_t)((node)->what >> 56))

static struct node *nodes;       /* by id; 0 is unused */
static uint32_t *index_of_nodes; /* atomic; ids by hash, 0 = free */
static uint32_t *was_emitted;    /* atomic; one bit per node */
static uint32_t node_limit;      /* a power of two */
static uint32_t index_limit;     /* twice as many: half empty at worst, so that searches end */
static uint32_t index_shift;     /* for a 64-bit hash: its highest bits are the slot */
static uint32_t last_id;

int gp_stack_tree_init(void)
{
	if (nodes != NULL) /* with the limits of the first recording */
		return 0;
	node_limit =
		(uint32_t)(gp_memory_budget_share_pow2(MOST_NODES * sizeof(*nodes), BUDGET_PART) /
			   sizeof(*nodes));
	index_limit = 2 * node_limit;
	index_shift = (uint32_t)__builtin_clz(index_limit) + 33;
	nodes = gp_memory_map(node_limit * sizeof(*nodes));
	index_of_nodes = gp_memory_map(index_limit * sizeof(*index_of_nodes));
	was_emitted = gp_memory_map(node_limit / 8);
	return nodes != NULL && index_of_nodes != NULL && was_emitted != NULL ? 0 : -ENOMEM;
}

void gp_stack_tree_forget(void)
{
	gp_memory_clear(nodes, node_limit * sizeof(*nodes));
	gp_memory_clear(index_of_nodes, index_limit * sizeof(*index_of_nodes));
	gp_memory_clear(was_emitted, node_limit / 8);
	gp_store32(&last_id, 0);
}

static uint32_t place_of(const struct node *node)
{
	uint64_t hash = (node->what ^ (uint64_t)node->origin << 40) * 0x9e3779b97f4a7c15u;

	hash = (hash ^ (hash >> 32) ^ node->parent) * 0xff51afd7ed558ccdu;
	return (uint32_t)(hash >> index_shift);
}

static bool is_same(const struct node *a, const struct node *b)
{
	return a->parent == b->parent && a->what == b->what && a->origin == b->origin;
}

/* A new id for the node, or 0.  The counter never wraps: it stays at the limit. */
static uint32_t add(const struct node *node)
{
	if (gp_load32(&last_id) >= node_limit - 1)
		return 0;
	uint32_t id = gp_add32(&last_id, 1) + 1;

	if (id >= node_limit) {
		gp_store32(&last_id, node_limit - 1);
		return 0;
	}
	nodes[id] = *node;
	return id;
}

/*
 * The node's id; if two threads add the same node concurrently, the id of the loser is never used.
 */
static uint32_t find_or_add(const struct node *node)
{
	uint32_t own = 0;

	for (uint32_t at = place_of(node);; at = (at + 1) & (index_limit - 1)) {
		uint32_t id = gp_load32_acquire(&index_of_nodes[at]);

		if (id == 0) {
			own = own != 0 ? own : add(node);
			if (own == 0)
				return GP_NO_NODE;
			if (gp_replace32(&index_of_nodes[at], 0, own))
				return own;
			id = gp_load32_acquire(&index_of_nodes[at]);
		}
		if (is_same(&nodes[id], node))
			return id;
	}
}

uint32_t gp_stack_tree_child(uint32_t parent, uint32_t kind, uint32_t origin, uint64_t address)
{
	struct node node = {parent, origin, address | (uint64_t)kind << 56};

	return parent != GP_NO_NODE ? find_or_add(&node) : GP_NO_NODE;
}

uint32_t gp_stack_tree_single(uint32_t parent, uint32_t kind, uint32_t origin, uint64_t address)
{
	struct node node = {parent, origin, address | (uint64_t)kind << 56};
	uint32_t id = parent != GP_NO_NODE ? add(&node) : 0;

	return id != 0 ? id : GP_NO_NODE;
}

static bool is_emitted(uint32_t id)
{
	return gp_load32(&was_emitted[id / 32]) >> (id % 32) & 1;
}

static bool emit_frame(uint32_t id)
{
	const struct node *node = &nodes[id];
	struct gp_record_frame frame = {
		.kind = GP_RECORD_FRAME,
		.slots = sizeof(frame) / GP_SLOT_BYTES,
		.frame_kind = (uint16_t)NODE_KIND(node),
		.id = id,
		.parent_id = node->parent,
		.origin_id = node->origin,
		.address = NODE_ADDRESS(node),
	};

	if (!gp_emit((const struct gp_record *)&frame))
		return false;
	__atomic_fetch_or(&was_emitted[id / 32], 1u << (id % 32), __ATOMIC_RELAXED);
	return true;
}

/*
 * The outermost frames of a stack that were not emitted, innermost first; returns their number.
 * Callers are emitted first, so all unemitted frames are adjacent at the inner side.
 */
static uint32_t find_unemitted(uint32_t id, uint32_t unemitted[AT_ONCE])
{
	uint32_t count = 0;

	for (; id != 0 && !is_emitted(id); id = nodes[id].parent)
		unemitted[count++ % AT_ONCE] = id;
	return count;
}

bool gp_stack_tree_emit(uint32_t id)
{
	/* few, because thread stacks are small: a deep stack takes several rounds */
	uint32_t unemitted[AT_ONCE];
	uint32_t count;

	for (uint32_t round = 0; round < MOST_ROUNDS; round++) {
		count = find_unemitted(id, unemitted);
		for (uint32_t i = 0; i < count && i < AT_ONCE; i++)
			if (!emit_frame(unemitted[(count - 1 - i) % AT_ONCE]))
				return false;
		if (count <= AT_ONCE)
			break;
	}
	return true;
}

bool gp_stack_tree_is_half_full(void)
{
	return gp_load32(&last_id) > node_limit / 2;
}
