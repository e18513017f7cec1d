/* GPU streams: their operations, and the program's ranges on them. */
#include <errno.h>

#include "report/base/spill_memory.h"
#include "report/timeline/walk.h"

/* Streams are runs of operations. */
struct streams {
	uint32_t *first_ops;
	uint32_t count;
	struct gp_range_span *spans; /* by stream */
	uint32_t span_count, span;   /* span: the next one */
};

static int find_streams(struct gp_timeline *t, struct streams *streams)
{
	const struct gp_model *model = t->model;

	for (uint32_t first = 0; first < model->op_count; streams->count++)
		first = gp_model_stream_end(model, first);
	streams->first_ops =
		gp_spill_take(((size_t)streams->count + 1) * sizeof(*streams->first_ops));
	for (uint32_t i = 0, first = 0; i < streams->count; i++) {
		streams->first_ops[i] = first;
		first = gp_model_stream_end(model, first);
	}
	return t->slices_only || !gp_walk_has_kind(t, GP_TIMELINE_STREAM_RANGE)
		       ? 0
		       : gp_range_spans_find(model, streams->first_ops, streams->count,
					     &streams->spans, &streams->span_count,
					     &t->deep_ranges);
}

static void begin_track(struct gp_timeline *t, enum gp_track_kind kind, uint32_t first_op)
{
	const struct gp_op *op = &t->model->ops[first_op];

	gp_walk_track(t, &(struct gp_timeline_track){.kind = kind,
						     .is_nesting = kind == GP_TRACK_STREAM_RANGES,
						     .device_id = op->device_id,
						     .context_id = op->context_id,
						     .stream_id = op->stream_id,
						     .first_op = first_op});
}

static bool has_span(const struct streams *streams, uint32_t stream)
{
	return streams->span < streams->span_count &&
	       streams->spans[streams->span].stream == stream;
}

/* Outer ones first: where two begin at once, readers take the first one for the outer. */
static void walk_spans(struct gp_timeline *t, struct streams *streams, uint32_t stream)
{
	for (; has_span(streams, stream); streams->span++) {
		const struct gp_range_span *span = &streams->spans[streams->span];
		const struct gp_range *range = &t->model->ranges[span->range];
		struct gp_timeline_event event = {.kind = GP_TIMELINE_STREAM_RANGE,
						  .start_ns = span->start_ns,
						  .end_ns = span->end_ns};

		if (!gp_walk_wants(t, &event))
			continue;
		event.name = gp_walk_range_name(t->model, range);
		gp_walk_number(&event, "thread", range->thread_id);
		gp_walk_text(&event, "domain", t->model->domains[range->domain]);
		gp_walk_event(t, &event);
	}
}

static void walk_ops(struct gp_timeline *t, uint32_t first, uint32_t end)
{
	static const enum gp_timeline_kind kinds[] = {
		[GP_OP_KERNEL] = GP_TIMELINE_KERNEL,
		[GP_OP_COPY] = GP_TIMELINE_COPY,
		[GP_OP_SET] = GP_TIMELINE_MEMSET,
		[GP_OP_GRAPH] = GP_TIMELINE_GRAPH,
	};
	const struct gp_op *ops = t->model->ops;
	struct gp_timeline_event event = {0};

	for (uint32_t i = first; i < end && t->error == 0; i++) {
		const struct gp_op *op =
			t->has_untimed ? &ops[i] : gp_model_stated(t->model, &ops[i]);

		if (!op)
			continue;
		event.kind = kinds[op->kind];
		event.start_ns = op->start_ns;
		event.end_ns = op->end_ns;
		event.of.op = op;
		event.index = i;
		if (gp_walk_wants(t, &event))
			gp_walk_event(t, &event);
	}
}

void gp_walk_streams(struct gp_timeline *t)
{
	struct streams streams = {0};

	if (t->error == 0)
		t->error = find_streams(t, &streams);
	for (uint32_t i = 0; t->error == 0 && i < streams.count; i++) {
		uint32_t first = streams.first_ops[i];

		if (!t->ranges_on_streams && has_span(&streams, i)) {
			begin_track(t, GP_TRACK_STREAM_RANGES, first);
			walk_spans(t, &streams, i);
		}
		begin_track(t, GP_TRACK_STREAM, first);
		walk_spans(t, &streams, i);
		walk_ops(t, first,
			 i + 1 < streams.count ? streams.first_ops[i + 1] : t->model->op_count);
	}
	gp_spill_free(streams.spans);
	gp_spill_free(streams.first_ops);
}
