#include "report/analysis/host/range_spans.h"

#include <string.h>

#include "report/base/array.h"

/* Slots for spans of a range by stream, which are found in constant time. */
#define REMEMBERED 8u

struct open {
	uint32_t range;
	uint32_t spans[REMEMBERED]; /* GP_NONE: none */
};

struct projection {
	const struct gp_model *model;
	const uint32_t *first_ops;
	uint32_t stream_count;
	struct gp_range_span *spans;
	uint32_t count, capacity;
	struct open open[GP_RANGE_SPANS_OPEN];
	uint32_t open_count;
	uint64_t deep;
};

static bool begins_until(const void *first_op, const void *op)
{
	return *(const uint32_t *)first_op <= *(const uint32_t *)op;
}

static uint32_t find_stream(const struct projection *p, uint32_t op)
{
	uint32_t after = gp_array_lower_bound(p->first_ops, p->stream_count, sizeof(*p->first_ops),
					      begins_until, &op);

	return after > 0 ? after - 1 : 0;
}

static void stretch(struct projection *p, struct open *open, uint32_t stream,
		    const struct gp_op *op)
{
	uint32_t *known = &open->spans[stream % REMEMBERED];
	struct gp_range_span *span = *known != GP_NONE ? &p->spans[*known] : NULL;

	if (span && span->stream == stream) {
		span->start_ns = op->start_ns < span->start_ns ? op->start_ns : span->start_ns;
		span->end_ns = op->end_ns > span->end_ns ? op->end_ns : span->end_ns;
		return;
	}
	gp_array_grow_spill(&p->spans, &p->capacity, p->count, sizeof(*p->spans));
	*known = p->count;
	p->spans[p->count++] =
		(struct gp_range_span){op->start_ns, op->end_ns, open->range, stream};
}

static void project_call(struct projection *p, const struct gp_call *call)
{
	for (uint32_t i = call->first_op; i != GP_NONE; i = p->model->ops[i].next_op) {
		const struct gp_op *op = &p->model->ops[i];
		uint32_t stream = find_stream(p, i);

		for (uint32_t k = 0; k < p->open_count; k++)
			if (gp_model_has_place(p->model, op) && !gp_op_is_on_host(op))
				stretch(p, &p->open[k], stream, op);
	}
}

static void close_ranges(struct projection *p, uint64_t time_ns)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->open_count; i++)
		if (p->model->ranges[p->open[i].range].end_ns >= time_ns)
			p->open[kept++] = p->open[i];
	p->open_count = kept;
}

static void open_range(struct projection *p, uint32_t range)
{
	if (p->model->ranges[range].style != GP_STYLE_PUSH_POP || p->model->ranges[range].is_cut)
		return;
	if (p->open_count == GP_RANGE_SPANS_OPEN)
		close_ranges(p, p->model->ranges[range].start_ns);
	if (p->open_count == GP_RANGE_SPANS_OPEN) {
		p->deep++;
		return;
	}
	p->open[p->open_count].range = range;
	memset(p->open[p->open_count].spans, 0xff, sizeof(p->open->spans));
	p->open_count++;
}

/* Go through each thread's calls and ranges, which are both sorted by thread and start. */
static void project(struct projection *p)
{
	const struct gp_model *m = p->model;

	for (uint32_t call = 0, range = 0; call < m->call_count; call++) {
		const struct gp_call *at = &m->calls[call];

		if (at->first_op == GP_NONE)
			continue;
		if (call > 0 && p->open_count > 0 &&
		    m->ranges[p->open[0].range].thread_id != at->thread_id)
			p->open_count = 0;
		while (range < m->range_count && m->ranges[range].thread_id < at->thread_id)
			range++;
		for (; range < m->range_count && m->ranges[range].thread_id == at->thread_id &&
		       m->ranges[range].start_ns <= at->start_ns;
		     range++)
			open_range(p, range);
		close_ranges(p, at->start_ns);
		project_call(p, at);
	}
}

GP_COMPARE_BY_TWO(compare_pieces, struct gp_range_span, stream, range)

static int compare_spans(const void *a, const void *b, const void *context)
{
	const struct gp_range_span *left = a, *right = b;

	if (left->stream != right->stream)
		return left->stream < right->stream ? -1 : 1;
	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	if (left->end_ns != right->end_ns)
		return left->end_ns > right->end_ns ? -1 : 1;
	return compare_pieces(a, b, context);
}

/* Joins the pieces of each range and stream into one span. */
static void join_pieces(struct projection *p)
{
	uint32_t kept = 0;

	gp_array_sort(p->spans, p->count, sizeof(*p->spans), compare_pieces, NULL);
	for (uint32_t i = 0; i < p->count; i++) {
		struct gp_range_span *last = &p->spans[kept > 0 ? kept - 1 : 0];
		const struct gp_range_span *piece = &p->spans[i];

		if (kept == 0 || compare_pieces(last, piece, NULL) != 0) {
			p->spans[kept++] = *piece;
			continue;
		}
		last->start_ns =
			piece->start_ns < last->start_ns ? piece->start_ns : last->start_ns;
		last->end_ns = piece->end_ns > last->end_ns ? piece->end_ns : last->end_ns;
	}
	p->count = kept;
	gp_array_sort(p->spans, p->count, sizeof(*p->spans), compare_spans, NULL);
}

int gp_range_spans_find(const struct gp_model *model, const uint32_t *first_ops,
			uint32_t stream_count, struct gp_range_span **spans, uint32_t *count,
			uint64_t *deep)
{
	struct projection p = {
		.model = model, .first_ops = first_ops, .stream_count = stream_count};

	if (model->range_count > 0)
		project(&p);
	join_pieces(&p);
	*spans = p.spans;
	*count = p.count;
	*deep += p.deep;
	return 0;
}
