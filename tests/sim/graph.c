#include "tests/sim/graph.h"
#include "tests/sim/call.h"

#include <cupti.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uint32_t next_graph_id = 1;
static _Atomic int64_t next_grid_id = 1;

int64_t sim_next_grid_id(void)
{
	return next_grid_id++;
}

/*
 * Reports to the tools.  The type of a node is not reported: it reads as 0, as on the real device.
 */
static void report(uint32_t event, CUgraph graph, CUgraph original, const struct sim_node *node,
		   const struct sim_node *original_node)
{
	CUpti_GraphData data = {.graph = graph,
				.originalGraph = original,
				.node = (CUgraphNode)node,
				.originalNode = (CUgraphNode)original_node};

	sim_tell_resource(event, sim_current(), NULL, &data);
}

static void tell_exec(uint32_t event, CUgraph graph, CUgraphExec exec)
{
	CUpti_GraphData data = {.graph = graph, .graphExec = exec};

	sim_tell_resource(event, sim_current(), NULL, &data);
}

static CUgraph new_graph(void)
{
	CUgraph g = calloc(1, sizeof(*g));

	g->id = next_graph_id++;
	return g;
}

CUgraph sim_graph_create(void)
{
	CUgraph g = new_graph();

	report(CUPTI_CBID_RESOURCE_GRAPH_CREATED, g, NULL, NULL, NULL);
	return g;
}

static void free_graph(CUgraph graph)
{
	for (size_t i = 0; i < graph->count; i++) {
		free(graph->nodes[i]->dependencies);
		free(graph->nodes[i]);
	}
	free(graph->nodes);
	free(graph);
}

void sim_graph_destroy(CUgraph graph)
{
	report(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, graph, NULL, NULL, NULL);
	free_graph(graph);
}

/* `in`: the graph in which the nodes with the same index are used; NULL: the given nodes. */
static void set_dependencies(struct sim_node *node, struct sim_node *const *after, size_t count,
			     CUgraph in)
{
	node->dependency_count = count;
	node->dependencies = count ? malloc(count * sizeof(struct sim_node *)) : NULL;
	for (size_t i = 0; node->dependencies && i < count; i++)
		node->dependencies[i] = in ? in->nodes[after[i]->index] : after[i];
}

static void append(CUgraph graph, struct sim_node *node)
{
	if (graph->count == graph->room) {
		graph->room = graph->room ? 2 * graph->room : 16;
		graph->nodes = realloc(graph->nodes, graph->room * sizeof(struct sim_node *));
	}
	node->graph = graph;
	node->index = (uint32_t)graph->count;
	graph->nodes[graph->count++] = node;
}

struct sim_node *sim_graph_add(CUgraph graph, CUgraphNodeType type, struct sim_node *const *after,
			       size_t after_count)
{
	struct sim_node *node = calloc(1, sizeof(*node));

	node->type = type;
	set_dependencies(node, after, after_count, NULL);
	append(graph, node);
	report(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, graph, NULL, node, NULL);
	return node;
}

/* A copied graph keeps the order of the nodes, so a dependency is found by its index. */
static struct sim_node *copy_node(CUgraph to, const struct sim_node *from)
{
	struct sim_node *node = malloc(sizeof(*node));

	*node = *from;
	append(to, node);
	node->op.graph = to->id;
	node->op.graph_node = (uint64_t)to->id << 32 | node->index;
	if (node->type == CU_GRAPH_NODE_TYPE_KERNEL)
		node->op.kernel.grid_id = sim_next_grid_id();
	set_dependencies(node, from->dependencies, from->dependency_count, to);
	return node;
}

/* The real driver does not report which nodes of the child graph these are copies of. */
CUgraph sim_graph_copy_child(CUgraph graph)
{
	CUgraph copy = new_graph();

	for (size_t i = 0; i < graph->count; i++)
		copy_node(copy, graph->nodes[i]);
	return copy;
}

static void clone_node(CUgraph to, const struct sim_node *from)
{
	struct sim_node *node = copy_node(to, from);

	report(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, to, from->graph, node, from);
}

CUgraphExec sim_graph_instantiate(CUgraph graph)
{
	CUgraphExec exec = calloc(1, sizeof(*exec));

	tell_exec(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING, graph, NULL);
	exec->whole = sim_tools.whole_graphs;
	exec->graph = new_graph();
	next_graph_id++; /* the real driver makes two copies */
	report(CUPTI_CBID_RESOURCE_GRAPH_CLONED, exec->graph, graph, NULL, NULL);
	pthread_mutex_init(&exec->lock, NULL);
	for (size_t i = 0; i < graph->count; i++)
		clone_node(exec->graph, graph->nodes[i]);
	tell_exec(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, graph, exec);
	return exec;
}

void sim_graph_exec_destroy(CUgraphExec exec)
{
	tell_exec(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING, exec->graph, exec);
	free_graph(exec->graph);
	pthread_mutex_destroy(&exec->lock);
	free(exec);
}

static uint64_t start_of(const struct sim_node *node, uint64_t begin)
{
	uint64_t start = begin;

	for (size_t i = 0; i < node->dependency_count; i++)
		if (node->dependencies[i]->end > start)
			start = node->dependencies[i]->end;
	return start;
}

static uint64_t run_nodes(CUgraph graph, const struct CUgraphExec_st *exec, CUstream stream,
			  uint64_t begin);

/* Places one node on the timeline and returns its end time. */
static uint64_t run_node(struct sim_node *node, const struct CUgraphExec_st *exec, CUstream stream,
			 uint64_t start)
{
	struct sim_op op = node->op;

	op.stream = stream;
	op.unrecorded = exec->whole;
	switch (node->type) {
	case CU_GRAPH_NODE_TYPE_MEMCPY:
	case CU_GRAPH_NODE_TYPE_MEMSET:
		sim_transfer_run(&node->transfer);
		/* fall through */
	case CU_GRAPH_NODE_TYPE_KERNEL:
		sim_submit_at(&op, start, node->duration_ns);
		return op.end;
	case CU_GRAPH_NODE_TYPE_HOST:
		sim_host_submit(&(struct sim_host_function){.stream = stream,
							    .fn = node->host_fn,
							    .data = node->host_data,
							    .correlation = sim_correlation(),
							    .graph = op.graph,
							    .graph_node = op.graph_node},
				start);
		return start;
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return run_nodes(node->child, exec, stream, start);
	default:
		return start;
	}
}

static uint64_t run_nodes(CUgraph graph, const struct CUgraphExec_st *exec, CUstream stream,
			  uint64_t begin)
{
	uint64_t end = begin;

	for (size_t i = 0; i < graph->count; i++) {
		struct sim_node *node = graph->nodes[i];

		node->end = run_node(node, exec, stream, start_of(node, begin));
		if (node->end > end)
			end = node->end;
	}
	return end;
}

void sim_graph_launch(CUgraphExec exec, CUstream stream)
{
	struct sim_op whole = {.kind = SIM_OP_GRAPH, .stream = stream, .graph = exec->graph->id};

	pthread_mutex_lock(&exec->lock);
	whole.start = sim_stream_ready_ns(stream);
	whole.end = run_nodes(exec->graph, exec, stream, whole.start);
	pthread_mutex_unlock(&exec->lock);
	sim_stream_extend(stream, whole.end);
	whole.correlation = sim_take_correlation();
	if (exec->whole && sim_tools.operation)
		sim_tools.operation(&whole);
}

static void run_row(char *to, const char *from, const struct sim_transfer *t)
{
	if (from) {
		memmove(to, from, t->width);
		return;
	}
	if (t->value_bytes == 1) {
		memset(to, (int)t->value, t->width);
		return;
	}
	for (size_t i = 0; i + t->value_bytes <= t->width; i += t->value_bytes)
		memcpy(to + i, &t->value, t->value_bytes);
}

__thread bool sim_touching;

void sim_transfer_run(const struct sim_transfer *t)
{
	sim_touching = true;
	for (size_t z = 0; z < (t->depth ? t->depth : 1); z++)
		for (size_t y = 0; y < (t->height ? t->height : 1); y++)
			run_row((char *)t->to + z * t->to_slice + y * t->to_pitch,
				t->from ? (const char *)t->from + z * t->from_slice +
						  y * t->from_pitch
					: NULL,
				t);
	sim_touching = false;
}

void sim_transfer_submit(struct sim_op *op, const struct sim_transfer *transfer)
{
	if (op->stream->capture) {
		struct sim_node *node = sim_capture_add(
			op->stream, op->kind == SIM_OP_SET ? CU_GRAPH_NODE_TYPE_MEMSET
							   : CU_GRAPH_NODE_TYPE_MEMCPY);

		node->op = *op;
		node->transfer = *transfer;
		node->duration_ns = sim_op_duration_ns(op);
		return;
	}
	sim_host_wait(op->stream, sim_host_ticket(op->stream));
	sim_transfer_run(transfer);
	sim_submit(op, sim_op_duration_ns(op));
}
