/*
 * torch_peak: what tensors had when most memory was allocated, by its purpose, from the history of
 * PyTorch's caching allocator.
 *
 * The history is the last part of all allocations and frees, and the blocks at its end are known.
 * Back from these, it gives the bytes at each of its moments.  Sizes are those that were requested.
 */
#ifndef REPORT_ANALYSIS_MEMORY_TORCH_PEAK_H
#define REPORT_ANALYSIS_MEMORY_TORCH_PEAK_H

#include <stdint.h>

#include "report/analysis/memory/torch_category.h"

enum gp_torch_event_kind {
	GP_TORCH_ALLOC,
	GP_TORCH_FREED, /* for the next allocation */
	GP_TORCH_RESERVE,
	GP_TORCH_RELEASE,
};

struct gp_torch_event {
	uint64_t address, bytes;
	uint32_t entry; /* the caller's */
	uint8_t kind;   /* enum gp_torch_event_kind */
};

/* At the end of the history. */
struct gp_torch_live {
	uint64_t address, bytes;
	uint8_t category;
};

struct gp_torch_history {
	const struct gp_torch_event *events; /* in order of time */
	const struct gp_torch_live *live;
	uint32_t event_count, live_count;
	uint64_t reserved_bytes; /* at the end */
	/* Sets the category of an event's allocation.  Returns 0 or -ENOMEM. */
	int (*find_category)(void *context, const struct gp_torch_event *event, uint8_t *category);
	void *context;
};

struct gp_torch_peak {
	uint32_t device_id;
	uint64_t bytes[GP_TORCH_CATEGORIES];
	uint64_t cached_bytes; /* reserved, and not requested by a tensor */
};

/* Returns 0 or -ENOMEM. */
int gp_torch_peak_of(struct gp_torch_peak *peak, const struct gp_torch_history *history);

#endif
