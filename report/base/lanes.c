#include "report/base/lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int gp_lanes_begin(struct gp_lanes *lanes, bool nesting)
{
	lanes->busy_count = 0;
	lanes->free_count = 0;
	lanes->count = 0;
	if (!nesting) {
		free(lanes->nesting);
		lanes->nesting = NULL;
		return 0;
	}
	if (!lanes->nesting)
		lanes->nesting = malloc(GP_NESTING_LANES * sizeof(*lanes->nesting));
	if (!lanes->nesting)
		return -ENOMEM;
	memset(lanes->nesting, 0, GP_NESTING_LANES * sizeof(*lanes->nesting));
	return 0;
}

void gp_lanes_free(struct gp_lanes *lanes)
{
	free(lanes->nesting);
	free(lanes->busy);
	free(lanes->free);
	*lanes = (struct gp_lanes){0};
}

static bool nest(struct gp_nesting_lane *lane, uint64_t start, uint64_t end)
{
	while (lane->depth > 0 && lane->ends[lane->depth - 1] <= start)
		lane->depth--;
	if (lane->used && start == lane->last_start)
		return false;
	if (lane->depth == GP_NESTING_DEPTH ||
	    (lane->depth > 0 && end > lane->ends[lane->depth - 1]))
		return false;
	lane->used = true;
	lane->last_start = start;
	lane->ends[lane->depth++] = end;
	return true;
}

static void push_busy(struct gp_lanes *lanes, struct gp_flat_lane lane)
{
	struct gp_flat_lane *heap = lanes->busy;
	uint32_t at = lanes->busy_count++;

	for (; at > 0 && heap[(at - 1) / 2].free_from > lane.free_from; at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = lane;
}

static uint32_t pop_busy(struct gp_lanes *lanes)
{
	struct gp_flat_lane *heap = lanes->busy;
	struct gp_flat_lane last = heap[--lanes->busy_count];
	uint32_t popped = heap[0].lane, at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < lanes->busy_count &&
		    heap[child + 1].free_from < heap[child].free_from)
			child++;
		if (child >= lanes->busy_count || heap[child].free_from >= last.free_from)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return popped;
}

static void push_free(struct gp_lanes *lanes, uint32_t lane)
{
	uint32_t at = lanes->free_count++;

	for (; at > 0 && lanes->free[(at - 1) / 2] > lane; at = (at - 1) / 2)
		lanes->free[at] = lanes->free[(at - 1) / 2];
	lanes->free[at] = lane;
}

static uint32_t pop_free(struct gp_lanes *lanes)
{
	uint32_t popped = lanes->free[0], last = lanes->free[--lanes->free_count], at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < lanes->free_count && lanes->free[child + 1] < lanes->free[child])
			child++;
		if (child >= lanes->free_count || lanes->free[child] >= last)
			break;
		lanes->free[at] = lanes->free[child];
		at = child;
	}
	lanes->free[at] = last;
	return popped;
}

/* Makes space in both heaps for all lanes and one more. */
static void make_room(struct gp_lanes *lanes)
{
	uint32_t capacity = lanes->capacity ? 2 * lanes->capacity : 16;
	struct gp_flat_lane *busy;
	uint32_t *available;

	if (lanes->busy_count + lanes->free_count < lanes->capacity)
		return;
	busy = realloc(lanes->busy, capacity * sizeof(*busy));
	lanes->busy = busy;
	available = realloc(lanes->free, capacity * sizeof(*available));
	lanes->free = available;
	lanes->capacity = capacity;
}

static int place_flat(struct gp_lanes *lanes, uint64_t start, uint64_t end, uint32_t *lane)
{
	struct gp_flat_lane placed = {.free_from = end > start ? end : start + 1};

	while (lanes->busy_count > 0 && lanes->busy[0].free_from <= start)
		push_free(lanes, pop_busy(lanes));
	make_room(lanes);
	placed.lane = lanes->free_count > 0 ? pop_free(lanes) : lanes->count++;
	push_busy(lanes, placed);
	*lane = placed.lane;
	return 0;
}

int gp_lanes_place(struct gp_lanes *lanes, uint64_t start, uint64_t end, uint32_t *lane)
{
	if (!lanes->nesting)
		return place_flat(lanes, start, end, lane);
	for (uint32_t i = 0; i < GP_NESTING_LANES; i++) {
		if (!nest(&lanes->nesting[i], start, end))
			continue;
		*lane = i;
		lanes->count = i >= lanes->count ? i + 1 : lanes->count;
		return 0;
	}
	return place_flat(lanes, start, end, lane);
}
