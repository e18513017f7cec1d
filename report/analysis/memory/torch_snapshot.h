/*
 * torch_snapshot: the memory snapshot that a PyTorch program wrote
 * (torch.cuda.memory._dump_snapshot), as far as the tables need it.
 *
 * PyTorch takes segments from CUDA and gives tensors blocks of them, which CUDA never sees: the
 * trace knows segments, the snapshot knows blocks.  It is of one process and of one moment, the one
 * when it was written, but for the allocator's history, which has a peak before that.
 */
#ifndef REPORT_ANALYSIS_MEMORY_TORCH_SNAPSHOT_H
#define REPORT_ANALYSIS_MEMORY_TORCH_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/analysis/memory/torch_peak.h"
#include "report/symbols/call_site.h"
#include "report/model/model.h"

enum gp_torch_state {
	GP_TORCH_ALLOCATED, /* a tensor has it */
	GP_TORCH_WAITING,   /* freed, but a stream may still use it */
	GP_TORCH_FREE,
	GP_TORCH_STATES
};

struct gp_torch_block {
	uint64_t address, bytes, requested_bytes;
	uint32_t segment; /* index */
	uint32_t site;    /* for gp_call_sites_at(); of free ones nothing */
	uint8_t state;    /* enum gp_torch_state */
	uint8_t category; /* enum gp_torch_category; of free ones nothing */
};

struct gp_torch_segment {
	uint64_t address, bytes;
	uint64_t state_bytes[GP_TORCH_STATES];
	uint64_t largest_free_bytes;
	uint32_t device_id;
	bool is_small;        /* for blocks up to 1 MiB */
	bool is_expandable;   /* of mapped physical memory, not of one allocation */
	uint32_t pool_number; /* 0 = the default pool; others are those of graphs and of the user */
	uint32_t memory; /* index in the model's memory of the allocation that it is, or GP_NONE */
};

struct gp_torch_snapshot {
	struct gp_torch_segment *segments;
	struct gp_torch_block *blocks;
	uint32_t segment_count, block_count;
	uint32_t segment_capacity, block_capacity;
	struct gp_torch_peak *peaks; /* of each device that has a history */
	uint32_t peak_count, peak_capacity;
	struct gp_call_sites *sites;
};

/*
 * Read a snapshot and find its segments in the trace.  Memory and time are bounded by the file's
 * length.  Returns 0, or a negative errno value with one line for the user in message;
 * gp_torch_snapshot_free() in either case.  Nothing in the file is ever executed.
 */
int gp_torch_snapshot_load(const char *path, const struct gp_model *model,
			   struct gp_torch_snapshot *snapshot, char *message, size_t message_bytes);
void gp_torch_snapshot_free(struct gp_torch_snapshot *snapshot);

#endif
