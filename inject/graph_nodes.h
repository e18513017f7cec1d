/*
 * graph_nodes: which call made which node of a CUDA graph, and which node is a copy of which: the way from a kernel of a
 * graph back to the call that was captured.  Called in CUPTI's resource callbacks, on the program's thread; emits there.
 */
#ifndef INJECT_GRAPH_NODES_H
#define INJECT_GRAPH_NODES_H

#include <stdint.h>

#include <cupti.h>

#include "inject/cupti_library.h"

/* From now on nodes are recorded; cupti stays the caller's.  Before the first callback. */
void gp_graph_nodes_init(const struct gp_cupti *cupti);

/* A node was created, or cloned, inside the call with this correlation id (0 = in none). */
void gp_graph_nodes_add(const CUpti_GraphData *data, uint32_t correlation_id);

#endif
