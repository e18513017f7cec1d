#include <errno.h>
#include <stdlib.h>

#include "report/array.h"
#include "report/load.h"

/*
 * The calls that started operations, in one order, with what lets a run of neighbours be summed up
 * in logarithmic time: sums from the beginning, and a tree of the earliest start and latest end.
 */
struct span {
	uint64_t start_ns, end_ns; /* UINT64_MAX, 0: no timed operation */
};

struct works {
	uint32_t *calls;
	uint64_t *op_counts, *busy_ns; /* of all before; one more than calls */
	struct span *tree;             /* [count + i] is that of calls[i] */
	uint32_t count;
};

static void free_works(struct works *works)
{
	free(works->calls);
	free(works->op_counts);
	free(works->busy_ns);
	free(works->tree);
}

static int compare_starts(const void *a, const void *b, const void *context)
{
	const struct gp_call *calls = context;
	uint64_t left = calls[*(const uint32_t *)a].start_ns;
	uint64_t right = calls[*(const uint32_t *)b].start_ns;

	return (left > right) - (left < right);
}

/* by_time: over all threads; else by thread and then by time, which is the model's order. */
static int collect_calls(struct works *works, const struct gp_model *m, bool by_time)
{
	works->calls = malloc(((size_t)m->call_count + 1) * sizeof(*works->calls));
	if (!works->calls)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->call_count; i++)
		if (m->calls[i].first_op != GP_NONE)
			works->calls[works->count++] = i;
	return by_time ? gp_array_sort(works->calls, works->count, sizeof(*works->calls),
				       compare_starts, m->calls)
		       : 0;
}

static struct span join_spans(struct span a, struct span b)
{
	return (struct span){a.start_ns < b.start_ns ? a.start_ns : b.start_ns,
			     a.end_ns > b.end_ns ? a.end_ns : b.end_ns};
}

static void sum_up_call(struct works *works, const struct gp_model *m, uint32_t index)
{
	struct span span = {UINT64_MAX, 0};
	uint64_t count = 0, busy_ns = 0;

	for (uint32_t i = m->calls[works->calls[index]].first_op; i != GP_NONE;
	     i = m->ops[i].next_op) {
		const struct gp_op *op = &m->ops[i];

		count++;
		if (op->untimed)
			continue;
		busy_ns += op->end_ns - op->start_ns;
		span = join_spans(span, (struct span){op->start_ns, op->end_ns});
	}
	works->op_counts[index + 1] = works->op_counts[index] + count;
	works->busy_ns[index + 1] = works->busy_ns[index] + busy_ns;
	works->tree[works->count + index] = span;
}

static int sum_up(struct works *works, const struct gp_model *m, bool by_time)
{
	size_t room;

	if (collect_calls(works, m, by_time) != 0)
		return -ENOMEM;
	room = (size_t)works->count + 1;
	works->op_counts = calloc(room, sizeof(*works->op_counts));
	works->busy_ns = calloc(room, sizeof(*works->busy_ns));
	works->tree = calloc(2 * room, sizeof(*works->tree));
	if (!works->op_counts || !works->busy_ns || !works->tree)
		return -ENOMEM;
	for (uint32_t i = 0; i < works->count; i++)
		sum_up_call(works, m, i);
	for (uint32_t i = works->count; i-- > 1;)
		works->tree[i] =
			join_spans(works->tree[2 * (size_t)i], works->tree[2 * (size_t)i + 1]);
	return 0;
}

/* Of the calls from index first up to but not including end. */
static struct span span_of(const struct works *works, uint32_t first, uint32_t end)
{
	struct span span = {UINT64_MAX, 0};
	uint64_t low = (uint64_t)first + works->count, high = (uint64_t)end + works->count;

	for (; low < high; low /= 2, high /= 2) {
		if (low & 1)
			span = join_spans(span, works->tree[low++]);
		if (high & 1)
			span = join_spans(span, works->tree[--high]);
	}
	return span;
}

struct wanted_call {
	const struct gp_call *calls;
	uint32_t thread;
	uint64_t time_ns;
};

static bool is_earlier_call(const void *element, const void *context)
{
	const struct wanted_call *wanted = context;
	const struct gp_call *call = &wanted->calls[*(const uint32_t *)element];

	return wanted->thread == GP_NONE || call->thread_id == wanted->thread
		       ? call->start_ns < wanted->time_ns
		       : call->thread_id < wanted->thread;
}

/* The first call that does not come before (thread, time); of any thread if that is GP_NONE. */
static uint32_t find_first(const struct works *works, const struct gp_model *m, uint32_t thread,
			   uint64_t time_ns)
{
	const struct wanted_call wanted = {m->calls, thread, time_ns};

	return gp_array_lower_bound(works->calls, works->count, sizeof(*works->calls),
				    is_earlier_call, &wanted);
}

static void project(struct gp_range *range, const struct works *works, const struct gp_model *m,
		    uint32_t thread)
{
	uint64_t after_ns = range->end_ns < UINT64_MAX ? range->end_ns + 1 : UINT64_MAX;
	uint32_t first = find_first(works, m, thread, range->start_ns);
	uint32_t end = find_first(works, m, thread, after_ns);
	struct span span = span_of(works, first, end);

	range->op_count = works->op_counts[end] - works->op_counts[first];
	range->gpu_busy_ns = works->busy_ns[end] - works->busy_ns[first];
	if (span.start_ns <= span.end_ns) {
		range->gpu_start_ns = span.start_ns;
		range->gpu_end_ns = span.end_ns;
	}
}

static int project_style(struct gp_model *m, uint8_t style)
{
	bool by_time = style == GP_STYLE_START_END;
	struct works works = {0};
	uint32_t first = 0;
	int result;

	while (first < m->range_count && m->ranges[first].style != style)
		first++;
	if (first == m->range_count)
		return 0;
	result = sum_up(&works, m, by_time);
	for (uint32_t i = first; result == 0 && i < m->range_count; i++)
		if (m->ranges[i].style == style)
			project(&m->ranges[i], &works, m,
				by_time ? GP_NONE : m->ranges[i].thread_id);
	free_works(&works);
	return result;
}

static void sum_children(struct gp_model *m)
{
	for (uint32_t i = 0; i < m->range_count; i++) {
		const struct gp_range *range = &m->ranges[i];
		struct gp_range *parent;
		uint64_t end_ns = range->end_ns;

		if (range->style != GP_STYLE_PUSH_POP || range->parent >= m->range_count)
			continue;
		parent = &m->ranges[range->parent];
		end_ns = end_ns < parent->end_ns ? end_ns : parent->end_ns;
		parent->children++;
		if (end_ns > range->start_ns)
			parent->children_ns += end_ns - range->start_ns;
	}
}

int gp_project_ranges(struct gp_model *m)
{
	int result = project_style(m, GP_STYLE_PUSH_POP);

	sum_children(m);
	return result == 0 ? project_style(m, GP_STYLE_START_END) : result;
}
