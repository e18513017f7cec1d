#include "tests/sim/graph.h"

#include <stdlib.h>
#include <string.h>

static void set_last(struct sim_capture *c, struct sim_node *const *nodes, size_t count)
{
	free(c->last);
	c->last = count ? malloc(count * sizeof(*c->last)) : NULL;
	c->last_count = count;
	if (count)
		memcpy(c->last, nodes, count * sizeof(*c->last));
}

static void add_last(struct sim_capture *c, struct sim_node *const *nodes, size_t count)
{
	if (!count)
		return;
	c->last = realloc(c->last, (c->last_count + count) * sizeof(*c->last));
	memcpy(c->last + c->last_count, nodes, count * sizeof(*c->last));
	c->last_count += count;
}

static void begin(CUstream stream, CUgraph graph, CUstream origin)
{
	struct sim_capture *c = calloc(1, sizeof(*c));

	c->graph = graph;
	c->stream = stream;
	c->origin = origin;
	if (stream != origin) {
		c->next_joined = origin->capture->next_joined;
		origin->capture->next_joined = c;
	}
	stream->capture = c;
}

static void leave(CUstream stream)
{
	free(stream->capture->last);
	free(stream->capture);
	stream->capture = NULL;
}

CUresult sim_capture_begin(CUstream stream, CUgraph into)
{
	if (stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (stream->is_legacy)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	begin(stream, into ? into : sim_graph_create(), stream);
	return CUDA_SUCCESS;
}

CUresult sim_capture_end(CUstream stream, CUgraph *graph)
{
	if (!stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (stream->capture->origin != stream)
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	*graph = stream->capture->graph;
	while (stream->capture->next_joined) {
		struct sim_capture *joined = stream->capture->next_joined;

		stream->capture->next_joined = joined->next_joined;
		leave(joined->stream);
	}
	leave(stream);
	return CUDA_SUCCESS;
}

struct sim_node *sim_capture_add(CUstream stream, CUgraphNodeType type)
{
	struct sim_capture *c = stream->capture;
	struct sim_node *node = sim_graph_add(c->graph, type, c->last, c->last_count);

	set_last(c, &node, 1);
	return node;
}

void sim_capture_record(CUevent event, CUstream stream)
{
	struct sim_capture *c = stream->capture;

	sim_event_number(event);
	free(event->capture_nodes);
	event->capture_nodes = malloc((c->last_count + 1) * sizeof(*event->capture_nodes));
	if (c->last_count)
		memcpy(event->capture_nodes, c->last, c->last_count * sizeof(*c->last));
	event->capture_count = c->last_count;
	event->capture_graph = c->graph;
	event->capture_origin = c->origin;
}

bool sim_capture_of_event(CUevent event)
{
	return event->capture_graph && event->capture_origin->capture &&
	       event->capture_origin->capture->graph == event->capture_graph;
}

void sim_capture_wait(CUstream stream, CUevent event)
{
	if (!stream->capture)
		begin(stream, event->capture_graph, event->capture_origin);
	add_last(stream->capture, event->capture_nodes, event->capture_count);
}
