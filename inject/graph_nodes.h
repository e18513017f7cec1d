/*
 * graph_nodes: links each node of a CUDA graph to the call that created it, and each cloned node to
 * its original: the path from a graph kernel back to the captured call.
 *
 * Called in CUPTI's resource callbacks, on the program's thread; emits there.
 */
#ifndef INJECT_GRAPH_NODES_H
#define INJECT_GRAPH_NODES_H

#include <stdint.h>

#include <cupti.h>

#include "inject/cupti_library.h"

/* Start recording nodes; the caller keeps cupti.  Before the first callback. */
void gp_graph_nodes_init(const struct gp_cupti *cupti);

/* A node was created or cloned inside the call with this correlation id (0 = in none). */
void gp_graph_nodes_add(const CUpti_GraphData *data, uint32_t correlation_id);

#endif
