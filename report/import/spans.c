/*
 * spans: turns the spans of threads into ranges that open and close, and into call stacks.
 */
#include <errno.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/import/importing.h"
#include "report/base/spill_memory.h"

static int compare_spans(const void *a, const void *b, const void *context)
{
	const struct gp_import_span *left = a, *right = b;

	(void)context;
	if (left->thread_id != right->thread_id)
		return left->thread_id < right->thread_id ? -1 : 1;
	if (left->domain != right->domain)
		return left->domain < right->domain ? -1 : 1;
	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return (left->end_ns < right->end_ns) - (left->end_ns > right->end_ns);
}

static int order_spans(struct gp_import_spans *spans)
{
	return gp_array_sort(spans->spans, spans->count, sizeof(*spans->spans), compare_spans,
			     NULL);
}

/* The open spans of a thread and domain; each lies within the one before it. */
struct open_spans {
	const struct gp_import_span **spans;
	uint32_t count, capacity;
};

/* ---- ranges ---- */

static int put_point(struct gp_importing *im, enum gp_range_op op, uint64_t time_ns,
		     uint64_t range_id, const struct gp_import_span *span)
{
	union gp_any_record record = {0};

	record.range = (struct gp_record_range){
		.op = (uint8_t)op,
		.flags = span->color_argb != 0 ? GP_RANGE_HAS_COLOR : 0,
		.text_id = span->text,
		.ticks = time_ns,
		.range_id = range_id,
		.domain_id = span->domain,
		.category = span->category,
		.color_argb = span->color_argb,
	};
	return gp_import_record_of(im, span->thread_id, GP_RECORD_RANGE, &record);
}

static int push(struct gp_importing *im, struct open_spans *open, const struct gp_import_span *span)
{
	int result = gp_array_grow_spill(&open->spans, &open->capacity, open->count,
					 sizeof(*open->spans));

	if (result != 0)
		return result;
	open->spans[open->count++] = span;
	return put_point(im, GP_RANGE_PUSH, span->start_ns, 0, span);
}

/* Closes the spans that end by then. */
static int pop(struct gp_importing *im, struct open_spans *open, uint64_t time_ns)
{
	int result = 0;

	while (result == 0 && open->count > 0 && open->spans[open->count - 1]->end_ns <= time_ns) {
		const struct gp_import_span *span = open->spans[--open->count];

		if (span->end_ns != GP_IMPORT_OPEN)
			result = put_point(im, GP_RANGE_POP, span->end_ns, 0, span);
	}
	return result;
}

/*
 * A span that begins within another and ends after it does not nest: it becomes a start/end range.
 */
static int put_free(struct gp_importing *im, const struct gp_import_span *span)
{
	struct gp_import_span end = *span;
	int result = put_point(im, GP_RANGE_START, span->start_ns, ++im->range_id, span);

	if (span->style == GP_STYLE_START_END)
		end.thread_id = span->end_thread_id;
	if (result != 0 || span->end_ns == GP_IMPORT_OPEN)
		return result;
	return put_point(im, GP_RANGE_END, span->end_ns, im->range_id, &end);
}

static bool shares_stack(const struct gp_import_span *a, const struct gp_import_span *b)
{
	return a->thread_id == b->thread_id && a->domain == b->domain;
}

static int put_span(struct gp_importing *im, struct open_spans *open,
		    const struct gp_import_span *span)
{
	int result;

	if (span->style == GP_STYLE_MARK)
		return put_point(im, GP_RANGE_MARK, span->start_ns, 0, span);
	if (span->style == GP_STYLE_START_END)
		return put_free(im, span);
	if (open->count > 0 && !shares_stack(open->spans[0], span))
		result = pop(im, open, UINT64_MAX);
	else
		result = pop(im, open, span->start_ns);
	if (result != 0)
		return result;
	if (open->count > 0 && span->end_ns > open->spans[open->count - 1]->end_ns)
		return put_free(im, span);
	return push(im, open, span);
}

int gp_import_ranges(struct gp_importing *im)
{
	struct open_spans open = {0};
	int result = order_spans(&im->ranges);

	for (uint32_t i = 0; i < im->ranges.count && result == 0; i++)
		result = put_span(im, &open, &im->ranges.spans[i]);
	if (result == 0)
		result = pop(im, &open, UINT64_MAX);
	gp_spill_free(open.spans);
	return result;
}

/* ---- stacks ---- */

GP_COMPARE_BY_TWO(compare_calls, struct gp_call, thread_id, start_ns)

/* The functions that a thread is in, in a walk over its spans and calls in order of time. */
struct walk {
	const struct gp_import_span *next, *end;
	struct {
		uint64_t end_ns;
		uint32_t frame;
		bool has_python; /* a Python function is among the frame and its callers */
	} open[GP_FRAME_DEPTH];
	uint32_t count;
	uint32_t thread_id;
};

static bool has_python(const struct walk *w)
{
	return w->count > 0 && w->open[w->count - 1].has_python;
}

/*
 * An operator names the Python functions that called it. They are outside of all operators, so only
 * the outermost one needs them.
 */
static uint32_t caller_of(const struct walk *w, const struct gp_import_span *span)
{
	if (span->caller != 0 && !has_python(w))
		return span->caller;
	return w->count > 0 ? w->open[w->count - 1].frame : 0;
}

static int enter(struct gp_importing *im, struct walk *w, const struct gp_import_span *span)
{
	struct gp_record_frame frame = {.frame_kind = GP_FRAME_PYTHON, .origin_id = span->text};
	uint32_t id;

	while (w->count > 0 && w->open[w->count - 1].end_ns <= span->start_ns)
		w->count--;
	if (w->count == GP_FRAME_DEPTH)
		return 0;
	frame.parent_id = caller_of(w, span);
	id = gp_import_frame(im, &frame);
	if (id == 0)
		return -ENOMEM;
	w->open[w->count].has_python = span->is_python || span->caller != 0 || has_python(w);
	w->open[w->count].end_ns = span->end_ns;
	if (span->end_ns == GP_IMPORT_OPEN && w->count > 0)
		w->open[w->count].end_ns = w->open[w->count - 1].end_ns;
	w->open[w->count++].frame = id;
	return 0;
}

/* Sets the call's stack to the functions that its thread was in when it began. */
static int find_stack(struct gp_importing *im, struct walk *w, struct gp_call *call)
{
	int result = 0;

	if (w->thread_id != call->thread_id)
		w->count = 0;
	w->thread_id = call->thread_id;
	while (w->next < w->end && w->next->thread_id < call->thread_id)
		w->next++;
	for (; result == 0 && w->next < w->end && w->next->thread_id == call->thread_id &&
	       w->next->start_ns <= call->start_ns;
	     w->next++)
		result = enter(im, w, w->next);
	while (w->count > 0 && w->open[w->count - 1].end_ns <= call->start_ns)
		w->count--;
	if (w->count > 0)
		call->stack = w->open[w->count - 1].frame;
	return result;
}

int gp_import_stacks(struct gp_importing *im)
{
	struct gp_model *m = im->builder->model;
	struct walk walk = {.count = 0};
	uint32_t *order;
	int result;

	if (im->functions.count == 0)
		return 0;
	result = order_spans(&im->functions);
	order = gp_array_order(m->calls, m->call_count, sizeof(*m->calls), compare_calls, NULL);
	if (!order)
		return -ENOMEM;
	walk.next = im->functions.spans;
	walk.end = walk.next + im->functions.count;
	for (uint32_t i = 0; i < m->call_count && result == 0; i++)
		result = find_stack(im, &walk, &m->calls[order[i]]);
	gp_spill_free(order);
	return result;
}

/* ---- Python samples ---- */

int gp_import_begin_sample(struct gp_importing *im, const struct gp_import_span *span)
{
	int result;

	if (im->open_sample_count > 0 &&
	    im->samples.spans[im->open_samples[0]].end_thread_id != span->end_thread_id)
		im->open_sample_count = 0; /* the file is truncated: nothing ends them */
	if (im->open_sample_count == GP_FRAME_DEPTH)
		return 0;
	result = gp_import_span(&im->samples, span);
	if (result != 0)
		return result;
	im->samples.spans[im->samples.count - 1].line_change = im->line_change_count;
	im->open_samples[im->open_sample_count++] = im->samples.count - 1;
	return 0;
}

int gp_import_change_line(struct gp_importing *im, const struct gp_import_line_change *line_change)
{
	int result;

	if (im->open_sample_count == GP_FRAME_DEPTH)
		return 0; /* it has not begun */
	result = gp_array_grow_spill(&im->line_changes, &im->line_change_capacity,
				     im->line_change_count, sizeof(*line_change));
	if (result != 0)
		return result;
	im->line_changes[im->line_change_count++] = *line_change;
	im->samples.spans[im->samples.count - 1].line_change_count++;
	return 0;
}

void gp_import_end_sample(struct gp_importing *im, uint32_t track, uint64_t time_ns)
{
	struct gp_import_span *span;

	if (im->open_sample_count == 0)
		return;
	span = &im->samples.spans[im->open_samples[im->open_sample_count - 1]];
	if (span->end_thread_id != track || time_ns < span->start_ns)
		return;
	span->end_ns = time_ns;
	im->open_sample_count--;
	gp_import_note_time(im, span->start_ns, time_ns);
}

/* Samples without an end last to the last record. */
static void end_samples(struct gp_importing *im)
{
	for (uint32_t i = 0; i < im->samples.count; i++)
		if (im->samples.spans[i].end_ns == GP_IMPORT_OPEN)
			im->samples.spans[i].end_ns = im->last_ns > im->samples.spans[i].start_ns
							      ? im->last_ns
							      : im->samples.spans[i].start_ns;
}

/*
 * The functions that a thread was in, in a walk over its spans in order of time. The innermost one
 * is sampled.
 */
struct sampling {
	struct open_function {
		const struct gp_import_span *span;
		uint32_t frame;
		uint32_t line;
		uint32_t line_change; /* the next one */
	} open[GP_FRAME_DEPTH];
	uint32_t count;
	uint64_t until_ns; /* samples before are written */
};

/* The share of a function's samples in a part of its time. */
static uint32_t samples_in(const struct gp_import_span *span, uint64_t part_ns)
{
	uint64_t all_ns = span->end_ns - span->start_ns;
	double samples = all_ns > 0 ? (double)span->samples * (double)part_ns / (double)all_ns : 0;

	return samples > 1 ? (uint32_t)(samples + 0.5) : 1;
}

/*
 * Writes the innermost function with its lines from until_ns to time_ns; 1 ns between two samples
 * belongs to no function.
 */
static int tell_one(struct gp_importing *im, struct sampling *l, uint64_t time_ns)
{
	const struct open_function *top = l->count > 0 ? &l->open[l->count - 1] : NULL;
	union gp_any_record record = {0};
	uint64_t start_ns = l->until_ns;

	if (time_ns <= start_ns)
		return 0;
	l->until_ns = time_ns;
	if (!top || time_ns - start_ns < 2)
		return 0;
	record.sample =
		(struct gp_record_sample){.thread_id = top->span->thread_id,
					  .start_ticks = start_ns,
					  .duration_ticks = time_ns - start_ns,
					  .stack_id = top->frame,
					  .count = samples_in(top->span, time_ns - start_ns)};
	return gp_import_record(im, GP_RECORD_SAMPLE, &record);
}

/*
 * The number of a function's frame. For a module's code during an import, its caller is Python's
 * import function. 0: no memory.
 */
static uint32_t frame_of(struct gp_importing *im, const struct open_function *open, uint32_t parent)
{
	static const char import[] = "<frozen importlib._bootstrap>(0): _find_and_load";
	struct gp_record_frame frame = {.frame_kind = GP_FRAME_PYTHON, .parent_id = parent};

	if (open->span->is_imported) {
		frame.origin_id =
			gp_import_code(im, import, sizeof(import) - 1, GP_IMPORT_LINE_OF_CODE);
		frame.parent_id = frame.origin_id != 0 ? gp_import_frame(im, &frame) : 0;
		if (frame.parent_id == 0)
			return 0;
	}
	frame.origin_id = open->span->text;
	frame.address = open->line;
	return gp_import_frame(im, &frame);
}

static uint64_t change_at(const struct gp_importing *im, const struct open_function *open)
{
	return open->line_change < open->span->line_change + open->span->line_change_count
		       ? im->line_changes[open->line_change].time_ns
		       : UINT64_MAX;
}

/* The next time at which one of the functions changes its line. */
static uint64_t next_change(const struct gp_importing *im, const struct sampling *l)
{
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; i < l->count; i++)
		if (change_at(im, &l->open[i]) < next_ns)
			next_ns = change_at(im, &l->open[i]);
	return next_ns;
}

/* Moves the functions that change their lines by then; their callees get new frames. */
static int line_change(struct gp_importing *im, struct sampling *l, uint64_t time_ns)
{
	bool has_changed = false;

	for (uint32_t i = 0; i < l->count; i++) {
		struct open_function *open = &l->open[i];

		for (; change_at(im, open) <= time_ns; has_changed = true)
			open->line = im->line_changes[open->line_change++].line;
		if (has_changed)
			open->frame = frame_of(im, open, i > 0 ? l->open[i - 1].frame : 0);
		if (open->frame == 0)
			return -ENOMEM;
	}
	return 0;
}

static int tell(struct gp_importing *im, struct sampling *l, uint64_t time_ns)
{
	int result = 0;

	for (uint64_t change_ns; result == 0 && (change_ns = next_change(im, l)) < time_ns;) {
		result = tell_one(im, l, change_ns);
		if (result == 0)
			result = line_change(im, l, change_ns);
	}
	return result == 0 ? tell_one(im, l, time_ns) : result;
}

/* Leaves the functions that end by then. */
static int leave(struct gp_importing *im, struct sampling *l, uint64_t time_ns)
{
	int result = 0;

	for (; result == 0 && l->count > 0 && l->open[l->count - 1].span->end_ns <= time_ns;
	     l->count--)
		result = tell(im, l, l->open[l->count - 1].span->end_ns);
	return result;
}

static int take_sample(struct gp_importing *im, struct sampling *l,
		       const struct gp_import_span *span)
{
	bool is_other = l->count > 0 && l->open[0].span->thread_id != span->thread_id;
	int result = leave(im, l, is_other ? UINT64_MAX : span->start_ns);
	struct open_function *open;

	if (l->count == 0)
		l->until_ns = span->start_ns;
	if (result == 0)
		result = tell(im, l, span->start_ns);
	if (result != 0 || l->count == GP_FRAME_DEPTH)
		return result;
	open = &l->open[l->count++];
	*open = (struct open_function){
		.span = span, .line = span->line, .line_change = span->line_change};
	open->frame = frame_of(im, open, l->count > 1 ? l->open[l->count - 2].frame : 0);
	return open->frame != 0 ? 0 : -ENOMEM;
}

int gp_import_samples(struct gp_importing *im)
{
	struct sampling sampling = {.count = 0};
	int result;

	end_samples(im);
	result = order_spans(&im->samples);
	for (uint32_t i = 0; i < im->samples.count && result == 0; i++)
		result = take_sample(im, &sampling, &im->samples.spans[i]);
	return result == 0 ? leave(im, &sampling, UINT64_MAX) : result;
}
