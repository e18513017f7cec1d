/*
 * live_ranges: the ranges (NVTX) that are open in a running program.
 *
 * A bounded number of texts is kept, those that were defined last of their place; so is the number
 * of open ranges.
 */
#ifndef REPORT_STREAM_LIVE_RANGES_H
#define REPORT_STREAM_LIVE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/record.h"

#define GP_LIVE_OPEN_RANGES 4096u
#define GP_LIVE_EARLY_ENDS  256u

struct gp_live_range {
	uint64_t ticks;    /* when it was opened */
	uint64_t range_id; /* of a start/end range */
	uint32_t thread_id;
	uint32_t domain_id;
	uint32_t text_id;
	bool is_nested; /* push/pop */
};

/* Zeroed = nothing yet. */
struct gp_live_ranges {
	/* room for GP_LIVE_OPEN_RANGES, in the order in which they were opened; NULL: none was */
	struct gp_live_range *open;
	uint32_t open_count;
	/* ranges whose end came before their start: the last ones */
	uint64_t early_ends[GP_LIVE_EARLY_ENDS];
	uint32_t early_end_count; /* so far */
	struct gp_live_text *texts;
};

void gp_live_ranges_free(struct gp_live_ranges *ranges);

/* A record of a range, of that thread. */
void gp_live_ranges_take(struct gp_live_ranges *ranges, const struct gp_record_range *record,
			 uint32_t thread_id);

/* The text of a GP_STRING_RANGE.  Returns 0 or -ENOMEM. */
int gp_live_ranges_define(struct gp_live_ranges *ranges, uint32_t text_id, const char *text,
			  uint32_t length_bytes);

/* The message of an open range; "" if it has none, or it is not kept any more. */
const char *gp_live_ranges_text(const struct gp_live_ranges *ranges,
				const struct gp_live_range *range);

#endif
