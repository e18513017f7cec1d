#include "inject/graph_nodes.h"

#include <stddef.h>

#include "collector/collector.h"

static const struct gp_cupti *cupti;

void gp_graph_nodes_init(const struct gp_cupti *library)
{
	if (library->cuptiGetGraphNodeId != NULL && library->cuptiGetGraphId != NULL)
		cupti = library;
}

void gp_graph_nodes_add(const CUpti_GraphData *data, uint32_t correlation_id)
{
	struct gp_record_node node = {
		.kind = GP_RECORD_NODE,
		.slots = sizeof(node) / GP_SLOT_BYTES,
		.node_kind = (uint16_t)data->nodeType,
		.correlation_id = correlation_id,
	};

	if (cupti == NULL || cupti->cuptiGetGraphNodeId(data->node, &node.node_id) != CUPTI_SUCCESS)
		return;
	cupti->cuptiGetGraphId(data->graph, &node.graph_id);
	if (data->originalNode != NULL)
		cupti->cuptiGetGraphNodeId(data->originalNode, &node.original_id);
	gp_emit((const struct gp_record *)&node);
}
