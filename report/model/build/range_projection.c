#include <errno.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/model/build/build.h"
#include "report/base/spill_memory.h"

#define BLOCK 8u

/* Of operations. */
struct sum {
	uint64_t start_ns, end_ns; /* of all that are timed; UINT64_MAX, 0: there is none */
	uint64_t op_count, busy_ns;
};

static const struct sum no_operation = {.start_ns = UINT64_MAX};

/*
 * The calls that started operations, in one order. A tree over blocks of calls sums up a run of
 * neighbors in logarithmic time; it takes a quarter of the memory of a tree over single calls.
 */
struct works {
	uint32_t *calls;
	struct sum *tree;            /* [block_count + i] is that of the i-th block */
	uint32_t count, block_count; /* whole ones */
};

static void free_works(struct works *works)
{
	gp_spill_free(works->calls);
	gp_spill_free(works->tree);
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
	works->calls = gp_spill_take(((size_t)m->call_count + 1) * sizeof(*works->calls));
	if (!works->calls)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->call_count; i++)
		if (m->calls[i].first_op != GP_NONE)
			works->calls[works->count++] = i;
	return by_time ? gp_array_sort(works->calls, works->count, sizeof(*works->calls),
				       compare_starts, m->calls)
		       : 0;
}

static struct sum join_sums(struct sum a, struct sum b)
{
	return (struct sum){
		.start_ns = a.start_ns < b.start_ns ? a.start_ns : b.start_ns,
		.end_ns = a.end_ns > b.end_ns ? a.end_ns : b.end_ns,
		.op_count = a.op_count + b.op_count,
		.busy_ns = a.busy_ns + b.busy_ns,
	};
}

/* With the operations of calls from index first up to but not including end. */
static struct sum add_calls(struct sum sum, const struct works *works, const struct gp_model *m,
			    uint32_t first, uint32_t end)
{
	for (uint32_t at = first; at < end; at++)
		for (uint32_t i = m->calls[works->calls[at]].first_op; i != GP_NONE;
		     i = m->ops[i].next_op) {
			const struct gp_op *op = &m->ops[i];

			sum.op_count++;
			if (gp_model_has_place(m, op) && !gp_op_is_on_host(op))
				sum = join_sums(sum, (struct sum){op->start_ns, op->end_ns, 0,
								  op->end_ns - op->start_ns});
		}
	return sum;
}

static int sum_up(struct works *works, const struct gp_model *m, bool by_time)
{
	if (collect_calls(works, m, by_time) != 0)
		return -ENOMEM;
	works->block_count = works->count / BLOCK;
	works->tree =
		gp_spill_take_zeroed(2 * ((size_t)works->block_count + 1), sizeof(*works->tree));
	if (!works->tree)
		return -ENOMEM;
	for (uint32_t i = 0; i < works->block_count; i++)
		works->tree[works->block_count + i] =
			add_calls(no_operation, works, m, i * BLOCK, (i + 1) * BLOCK);
	for (uint32_t i = works->block_count; i-- > 1;)
		works->tree[i] =
			join_sums(works->tree[2 * (size_t)i], works->tree[2 * (size_t)i + 1]);
	return 0;
}

static struct sum add_blocks(struct sum sum, const struct works *works, uint32_t first,
			     uint32_t end)
{
	uint64_t low = (uint64_t)first + works->block_count,
		 high = (uint64_t)end + works->block_count;

	for (; low < high; low /= 2, high /= 2) {
		if (low & 1)
			sum = join_sums(sum, works->tree[low++]);
		if (high & 1)
			sum = join_sums(sum, works->tree[--high]);
	}
	return sum;
}

/* Of the calls from index first up to but not including end. */
static struct sum sum_of(const struct works *works, const struct gp_model *m, uint32_t first,
			 uint32_t end)
{
	uint32_t first_block = first / BLOCK + (first % BLOCK != 0), end_block = end / BLOCK;
	struct sum sum;

	if (first_block >= end_block)
		return add_calls(no_operation, works, m, first, end);
	sum = add_calls(no_operation, works, m, first, first_block * BLOCK);
	sum = add_blocks(sum, works, first_block, end_block);
	return add_calls(sum, works, m, end_block * BLOCK, end);
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
	struct sum sum = sum_of(works, m, first, end);

	range->op_count = sum.op_count;
	range->gpu_busy_ns = sum.busy_ns;
	if (sum.start_ns <= sum.end_ns) {
		range->gpu_start_ns = sum.start_ns;
		range->gpu_end_ns = sum.end_ns;
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
