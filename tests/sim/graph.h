/*
 * Graphs: nodes with dependencies, stream capture, and launches.  A launch places each node on the
 * timeline when its dependencies have ended.
 */
#ifndef GPUPROF_TESTS_SIM_GRAPH_H
#define GPUPROF_TESTS_SIM_GRAPH_H

#include "tests/sim/device.h"

/* The memory effect of a copy or memset, row by row, for flat and 2D ones alike. */
struct sim_transfer {
	void *to;
	const void *from;                                  /* NULL: a memset */
	size_t width, height, depth;                       /* bytes, rows, slices */
	size_t to_pitch, from_pitch, to_slice, from_slice; /* bytes */
	uint32_t value;
	unsigned int value_bytes; /* 1, 2 or 4 */
};

void sim_transfer_run(const struct sim_transfer *transfer);

struct sim_node {
	CUgraphNodeType type;
	CUgraph graph;
	uint32_t index;
	struct sim_op op;             /* for kernels, copies and memsets */
	struct sim_transfer transfer; /* for copies and memsets */
	uint64_t duration_ns;
	void (*host_fn)(void *);
	void *host_data;
	CUgraph child;
	struct sim_node **dependencies;
	size_t dependency_count;
	uint64_t end; /* end time in the current launch */
};

struct CUgraph_st {
	uint32_t id; /* in CUPTI's numbering of graphs, which includes executable graphs */
	struct sim_node **nodes;
	size_t count, room;
};

struct CUgraphExec_st {
	CUgraph graph; /* a copy of the graph that it was instantiated from */
	/* instantiated while whole graphs are traced: its nodes never have records */
	bool whole;
	pthread_mutex_t lock;
};

struct sim_capture {
	CUgraph graph;
	CUstream origin;
	struct sim_node **last; /* dependencies of the stream's next node */
	size_t last_count;
	CUstream stream;
	/* list of the streams that joined the capture through events */
	struct sim_capture *next_joined;
};

CUgraph sim_graph_create(void);
void sim_graph_destroy(CUgraph graph);
struct sim_node *sim_graph_add(CUgraph graph, CUgraphNodeType type, struct sim_node *const *after,
			       size_t after_count);
CUgraphExec sim_graph_instantiate(CUgraph graph);
CUgraph sim_graph_copy_child(CUgraph graph);
void sim_graph_exec_destroy(CUgraphExec exec);
void sim_graph_launch(CUgraphExec exec, CUstream stream);

CUresult sim_capture_begin(CUstream stream, CUgraph into);
CUresult sim_capture_end(CUstream stream, CUgraph *graph);
/* Adds a node that depends on the stream's last nodes.  The caller fills it. */
struct sim_node *sim_capture_add(CUstream stream, CUgraphNodeType type);
/* Event record and wait in a capture.  The wait makes its stream join the capture. */
void sim_capture_record(CUevent event, CUstream stream);
/* Whether the event was recorded in a capture that is still active. */
bool sim_capture_of_event(CUevent event);
void sim_capture_wait(CUstream stream, CUevent event);

/* Submits the operation and moves its bytes; or, in a capture, adds it as a node. */
void sim_transfer_submit(struct sim_op *op, const struct sim_transfer *transfer);

int64_t sim_next_grid_id(void);

#endif
