/*
 * oom_snapshot: a process's allocations on a GPU when a call failed for want of its memory, by
 * place.
 */
#ifndef REPORT_ANALYSIS_MEMORY_OOM_SNAPSHOT_H
#define REPORT_ANALYSIS_MEMORY_OOM_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/symbols/call_site.h"
#include "report/model/model.h"

/* "out of memory", of the runtime and of the driver. */
#define GP_OUT_OF_MEMORY 2u

#define GP_OOM_SNAPSHOT_SITES 3u

struct gp_oom_snapshot {
	bool is_known; /* else all is 0 */
	uint64_t bytes, blocks;
	uint64_t total_bytes; /* of the GPU; 0 = not known */
	uint32_t place_count; /* where these were allocated */
	/* Those with most, at most GP_OOM_SNAPSHOT_SITES of them. */
	uint32_t sites[GP_OOM_SNAPSHOT_SITES]; /* for gp_call_sites_at() */
	uint64_t site_bytes[GP_OOM_SNAPSHOT_SITES];
};

/*
 * Not known: of a call that failed for something else, or for want of the host's memory; and where
 * allocations may not have been recorded.  The sites get those places.
 */
void gp_oom_snapshot_at(struct gp_oom_snapshot *held, const struct gp_model *model,
			const struct gp_call *call, struct gp_call_sites *sites);

/*
 * "the process held 14.20GiB of 16.00GiB then, in 120 blocks: 9.000GiB of load (x.cu:3), 5.200GiB
 * of 4 other places"
 */
void gp_oom_snapshot_tell(FILE *out, const struct gp_oom_snapshot *held,
			  const struct gp_call_sites *sites);

/* The places of that alone; nothing where nothing was held. */
void gp_oom_snapshot_tell_places(FILE *out, const struct gp_oom_snapshot *held,
				 const struct gp_call_sites *sites);

#endif
