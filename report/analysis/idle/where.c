#include "report/analysis/idle/where.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/spill_memory.h"

/* ---- sums ---- */

uint64_t gp_state_any_ns(const uint64_t state_ns[GP_STATES], unsigned classes)
{
	uint64_t sum_ns = 0;

	for (unsigned state = 1; state <= GP_STATE_BUSY; state++)
		sum_ns += state & classes ? state_ns[state] : 0;
	return sum_ns;
}

uint64_t gp_state_all_ns(const uint64_t state_ns[GP_STATES], unsigned classes)
{
	uint64_t sum_ns = 0;

	for (unsigned state = 1; state <= GP_STATE_BUSY; state++)
		sum_ns += (state & classes) == classes ? state_ns[state] : 0;
	return sum_ns;
}

uint64_t gp_state_busy_ns(const uint64_t state_ns[GP_STATES])
{
	return gp_state_any_ns(state_ns, GP_STATE_BUSY);
}

uint64_t gp_state_idle_ns(const uint64_t state_ns[GP_STATES])
{
	uint64_t sum_ns = 0;

	for (unsigned state = GP_STATE_IDLE; state < GP_STATES; state++)
		sum_ns += state_ns[state];
	return sum_ns;
}

enum gp_idle_cause gp_state_top_cause(const uint64_t state_ns[GP_STATES])
{
	enum gp_idle_cause top = GP_IDLE_HOST;

	for (enum gp_idle_cause i = 0; i < GP_IDLE_CAUSES; i++)
		if (state_ns[GP_STATE_IDLE + i] > state_ns[GP_STATE_IDLE + top])
			top = i;
	return top;
}

/* ---- gathering ---- */

static int compare_lengths(const void *a, const void *b)
{
	const struct gp_gap *left = a, *right = b;
	uint64_t left_ns = left->end_ns - left->start_ns,
		 right_ns = right->end_ns - right->start_ns;

	if (left_ns != right_ns)
		return left_ns > right_ns ? -1 : 1;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

static void keep_longest(struct gp_where *where, size_t limit)
{
	if (where->gaps_kept > 0)
		qsort(where->gaps, where->gaps_kept, sizeof(*where->gaps), compare_lengths);
	if (where->gaps_kept < limit)
		return;
	where->gaps_kept = limit;
	where->gaps_least_ns =
		limit > 0 ? where->gaps[limit - 1].end_ns - where->gaps[limit - 1].start_ns : 0;
}

/* For twice as many as are kept, so that sorting them is rare. */
static void make_room(struct gp_where *where, size_t limit)
{
	size_t capacity = where->gaps_capacity ? 2 * where->gaps_capacity : 64;
	struct gp_gap *gaps;

	if (where->gaps_kept < where->gaps_capacity)
		return;
	if (where->gaps_capacity >= 2 * limit) {
		keep_longest(where, limit);
		return;
	}
	gaps = gp_spill_resize(where->gaps, capacity * sizeof(*gaps));
	where->gaps = gaps;
	where->gaps_capacity = capacity;
}

static void add_segment(void *context, size_t device, unsigned state, uint64_t start_ns,
			uint64_t end_ns)
{
	struct gp_wheres *wheres = context;

	if (state > 0)
		wheres->devices[device].state_ns[state] += end_ns - start_ns;
}

static void add_gap(void *context, const struct gp_gap *gap)
{
	struct gp_wheres *wheres = context;
	struct gp_where *where = &wheres->devices[gap->device];

	where->cause_count[gap->cause]++;
	if (gap->before.op == GP_NONE || gap->after.op == GP_NONE)
		where->edge_ns += gap->end_ns - gap->start_ns;
	if (wheres->gap_limit == 0 || gap->end_ns - gap->start_ns < where->gaps_least_ns)
		return;
	make_room(where, wheres->gap_limit);
	where->gaps[where->gaps_kept++] = *gap;
}

void gp_wheres_open(struct gp_wheres *wheres, size_t device_count, size_t gap_limit,
		    struct gp_sweep_taker *taker)
{
	*wheres = (struct gp_wheres){.gap_limit = gap_limit, .count = device_count};
	*taker = (struct gp_sweep_taker){add_segment, add_gap, wheres, gp_sweep_needs_no_order};
	wheres->devices = calloc(device_count + 1, sizeof(*wheres->devices));
}

void gp_wheres_finish(struct gp_wheres *wheres)
{
	for (size_t i = 0; i < wheres->count; i++)
		keep_longest(&wheres->devices[i], wheres->gap_limit);
}

void gp_wheres_free(struct gp_wheres *wheres)
{
	for (size_t i = 0; wheres->devices && i < wheres->count; i++)
		gp_spill_free(wheres->devices[i].gaps);
	free(wheres->devices);
	*wheres = (struct gp_wheres){0};
}
