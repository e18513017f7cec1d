#include "report/stream/live_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Texts get numbers in the order in which they are defined: the last so many are kept. */
#define TEXTS 16384u

struct gp_live_text {
	uint32_t id;
	char *bytes;
};

void gp_live_ranges_free(struct gp_live_ranges *r)
{
	for (uint32_t i = 0; r->texts && i < TEXTS; i++)
		free(r->texts[i].bytes);
	free(r->texts);
	free(r->open);
	*r = (struct gp_live_ranges){0};
}

int gp_live_ranges_define(struct gp_live_ranges *r, uint32_t text_id, const char *text,
			  uint32_t length_bytes)
{
	struct gp_live_text *place;

	if (!r->texts)
		r->texts = calloc(TEXTS, sizeof(*r->texts));
	if (!r->texts)
		return -ENOMEM;
	place = &r->texts[text_id % TEXTS];
	free(place->bytes);
	*place = (struct gp_live_text){text_id, strndup(text, length_bytes)};
	return place->bytes ? 0 : -ENOMEM;
}

const char *gp_live_ranges_text(const struct gp_live_ranges *r, const struct gp_live_range *range)
{
	const struct gp_live_text *place = r->texts ? &r->texts[range->text_id % TEXTS] : NULL;

	return place && place->bytes && place->id == range->text_id ? place->bytes : "";
}

/* So many open ranges are a fault of the program: it does not close them. */
static void forget_oldest(struct gp_live_ranges *r)
{
	r->open_count = GP_LIVE_OPEN_RANGES / 2;
	memmove(r->open, r->open + GP_LIVE_OPEN_RANGES / 2, r->open_count * sizeof(r->open[0]));
}

/* Another thread ended it, and its records came first. */
static bool has_ended(const struct gp_live_ranges *r, uint64_t range_id)
{
	for (uint32_t i = 0; i < GP_LIVE_EARLY_ENDS && i < r->early_end_count; i++)
		if (r->early_ends[i] == range_id)
			return true;
	return false;
}

static void open_range(struct gp_live_ranges *r, const struct gp_record_range *record,
		       uint32_t thread_id)
{
	if (record->op == GP_RANGE_START && has_ended(r, record->range_id))
		return;
	if (!r->open)
		r->open = calloc(GP_LIVE_OPEN_RANGES, sizeof(*r->open));
	if (r->open_count == GP_LIVE_OPEN_RANGES)
		forget_oldest(r);
	r->open[r->open_count++] = (struct gp_live_range){
		.ticks = record->ticks,
		.range_id = record->range_id,
		.thread_id = thread_id,
		.domain_id = record->domain_id,
		.text_id = record->text_id,
		.is_nested = record->op == GP_RANGE_PUSH,
	};
}

static void close_range(struct gp_live_ranges *r, uint32_t index)
{
	r->open_count--;
	memmove(&r->open[index], &r->open[index + 1], (r->open_count - index) * sizeof(r->open[0]));
}

/* The innermost of its thread and domain. */
static void pop(struct gp_live_ranges *r, const struct gp_record_range *record, uint32_t thread_id)
{
	for (uint32_t i = r->open_count; i-- > 0;)
		if (r->open[i].is_nested && r->open[i].thread_id == thread_id &&
		    r->open[i].domain_id == record->domain_id) {
			close_range(r, i);
			return;
		}
}

static void end(struct gp_live_ranges *r, const struct gp_record_range *record)
{
	for (uint32_t i = r->open_count; i-- > 0;)
		if (!r->open[i].is_nested && r->open[i].range_id == record->range_id) {
			close_range(r, i);
			return;
		}
	r->early_ends[r->early_end_count++ % GP_LIVE_EARLY_ENDS] = record->range_id;
}

void gp_live_ranges_take(struct gp_live_ranges *r, const struct gp_record_range *record,
			 uint32_t thread_id)
{
	if (record->op == GP_RANGE_PUSH || record->op == GP_RANGE_START)
		open_range(r, record, thread_id);
	else if (record->op == GP_RANGE_POP)
		pop(r, record, thread_id);
	else if (record->op == GP_RANGE_END)
		end(r, record);
}
