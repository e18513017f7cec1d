#include "report/analysis/memory/torch_peak.h"

#include "report/base/tally.h"

/* A history that does not fit its end leaves 0. */
static uint64_t less(uint64_t bytes, uint64_t by)
{
	return bytes > by ? bytes - by : 0;
}

/* The events before the first moment at which most was allocated; and what was reserved then. */
static uint32_t find_moment(const struct gp_torch_history *history, uint64_t *reserved_bytes)
{
	uint64_t bytes = 0, most, reserved = history->reserved_bytes;
	uint32_t moment = history->event_count;

	for (uint32_t i = 0; i < history->live_count; i++)
		bytes += history->live[i].bytes;
	most = bytes;
	*reserved_bytes = reserved;
	for (uint32_t i = history->event_count; i-- > 0;) {
		const struct gp_torch_event *event = &history->events[i];

		if (event->kind == GP_TORCH_ALLOC)
			bytes = less(bytes, event->bytes);
		else if (event->kind == GP_TORCH_FREED)
			bytes += event->bytes;
		else if (event->kind == GP_TORCH_RESERVE)
			reserved = less(reserved, event->bytes);
		else
			reserved += event->bytes;
		if (bytes < most)
			continue;
		most = bytes;
		moment = i;
		*reserved_bytes = reserved;
	}
	return moment;
}

/* What is known of the block at an address: nothing, alive at the moment, or from later on. */
enum { NOTHING, ALIVE, LATER };
enum { STATE, EVENT };

static uint64_t *find_block(struct gp_tally *blocks, uint64_t address)
{
	return gp_tally_find(blocks, (uint64_t[GP_TALLY_KEYS]){address})->sums;
}

static int add_alive(struct gp_torch_peak *peak, const struct gp_torch_history *history,
		     const struct gp_tally *blocks)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < blocks->count; i++) {
		const struct gp_torch_event *event = &history->events[blocks->rows[i].sums[EVENT]];
		uint8_t category = GP_TORCH_UNKNOWN;

		if (blocks->rows[i].sums[STATE] != ALIVE)
			continue;
		result = history->find_category(history->context, event, &category);
		peak->bytes[category] += event->bytes;
	}
	return result;
}

/* Blocks from before the history, which were freed in it, or are left. */
static void add_older(struct gp_torch_peak *peak, const struct gp_torch_history *history,
		      struct gp_tally *blocks, uint32_t moment)
{
	for (uint32_t i = moment; i < history->event_count; i++) {
		const struct gp_torch_event *event = &history->events[i];
		uint64_t *block;

		if (event->kind != GP_TORCH_ALLOC && event->kind != GP_TORCH_FREED)
			continue;
		block = find_block(blocks, event->address);
		if (event->kind == GP_TORCH_FREED && block[STATE] == NOTHING)
			peak->bytes[GP_TORCH_UNKNOWN] += event->bytes;
		block[STATE] = LATER;
	}
	for (uint32_t i = 0; i < history->live_count; i++)
		if (find_block(blocks, history->live[i].address)[STATE] == NOTHING)
			peak->bytes[history->live[i].category] += history->live[i].bytes;
}

int gp_torch_peak_of(struct gp_torch_peak *peak, const struct gp_torch_history *history)
{
	struct gp_tally blocks = {0};
	uint64_t reserved_bytes;
	uint32_t moment = find_moment(history, &reserved_bytes);
	int result;

	for (uint32_t i = 0; i < moment; i++) {
		const struct gp_torch_event *event = &history->events[i];
		uint64_t *block;

		if (event->kind != GP_TORCH_ALLOC && event->kind != GP_TORCH_FREED)
			continue;
		block = find_block(&blocks, event->address);
		block[STATE] = event->kind == GP_TORCH_ALLOC ? ALIVE : NOTHING;
		block[EVENT] = i;
	}
	result = add_alive(peak, history, &blocks);
	add_older(peak, history, &blocks, moment);
	peak->cached_bytes = reserved_bytes;
	for (int i = 0; i < GP_TORCH_CATEGORIES; i++)
		peak->cached_bytes = less(peak->cached_bytes, peak->bytes[i]);
	if (result == 0)
		result = blocks.error;
	gp_tally_free(&blocks);
	return result;
}
