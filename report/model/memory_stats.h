/*
 * memory_stats: what the processes had allocated, by device and kind: in all, at the peak, at the
 * end.
 *
 * Device memory that counts as a device's own: cudaMalloc and its relatives, pools, arrays,
 * physical memory. Apart from it stand managed memory (which may lie on the host), host memory, and
 * other processes' allocations.
 */
#ifndef REPORT_MODEL_MEMORY_STATS_H
#define REPORT_MODEL_MEMORY_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model/devices.h"
#include "report/model/model.h"

#define GP_MEMORY_OF_DEVICE 0 /* a row's kind: all of the device's own together */

struct gp_memory_row {
	size_t device; /* index in the device list, SIZE_MAX for host memory */
	uint8_t kind;  /* enum gp_memory_kind or GP_MEMORY_OF_DEVICE */
	uint64_t allocations, allocated_bytes;
	uint64_t frees,
		freed_bytes; /* of the above; freeing something unknown is in the model's losses */
	uint64_t now_bytes, peak_bytes; /* what ended processes left is in neither any more */
	uint64_t peak_unix_ns;          /* when it was first reached */
};

/* What the driver said last of a device. */
struct gp_memory_usage {
	size_t device;
	uint64_t unix_ns;
	uint64_t total_bytes;
	uint64_t in_use_bytes; /* by all processes on the machine */
	uint64_t own_bytes;    /* of the rows GP_MEMORY_OF_DEVICE at that moment */
};

struct gp_memory_stats {
	struct gp_memory_row *rows; /* by device, host last; GP_MEMORY_OF_DEVICE before its parts */
	size_t row_count;
	struct gp_memory_usage *usages; /* at most one per device */
	size_t usage_count;
};

/* Returns 0 or -ENOMEM. The device list gets the devices that it lacked. */
int gp_memory_stats_of(struct gp_model *const *models, size_t model_count,
		       struct gp_device_list *devices, struct gp_memory_stats *stats);
void gp_memory_stats_free(struct gp_memory_stats *stats);

/* Whether a kind counts as the device's own. */
bool gp_memory_is_of_device(uint8_t kind);

/* Whether a kind is memory of the host. */
bool gp_memory_is_of_host(uint8_t kind);

/* What *now_bytes becomes by that event; never below zero. */
void gp_memory_apply(uint64_t *now_bytes, const struct gp_memory_event *event);

#endif
