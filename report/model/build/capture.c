#include <errno.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/model/build/build.h"
#include "report/base/spill_memory.h"

/* A copy of a copy of ...: of a damaged trace it may go in a circle. */
#define MOST_COPIES 64

GP_COMPARE_BY(compare_nodes, struct gp_record_node, node_id)

static const struct gp_record_node *find_node(const struct gp_model *m, uint64_t node_id)
{
	return gp_array_find(m->nodes, m->node_count, sizeof(*m->nodes), compare_nodes,
			     &(struct gp_record_node){.node_id = node_id});
}

/* The call that created a node or, where it is a copy, the node that it goes back to. */
static uint32_t find_capture(struct gp_model_builder *b, const struct gp_record_node *node)
{
	const struct gp_record_node *original = node;

	for (int i = 0; original && original->original_id != 0 && i < MOST_COPIES; i++)
		original = find_node(b->model, original->original_id);
	if (!original || original->original_id != 0)
		return GP_NONE;
	return gp_find_call(b, original->correlation_id, UINT64_MAX);
}

int gp_join_captures(struct gp_model_builder *b)
{
	struct gp_model *m = b->model;
	uint32_t *calls;

	if (m->node_count == 0)
		return 0;
	calls = gp_spill_take(m->node_count * sizeof(*calls)); /* by node */
	if (!calls)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->node_count; i++)
		calls[i] = find_capture(b, &m->nodes[i]);
	for (uint32_t i = 0; i < m->detail_count; i++) {
		uint64_t node_id = m->details[i].graph_node_id;
		const struct gp_record_node *node = node_id ? find_node(m, node_id) : NULL;

		if (node)
			m->details[i].capture_call = calls[node - m->nodes];
	}
	gp_spill_free(calls);
	return 0;
}
