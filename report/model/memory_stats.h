/*
 * memory_stats: what the processes had allocated, by device and kind: in all, at the peak, at the
 * end.
 *
 * Of a model that has sums alone (report/model/sums/totals.h), the rows are those of the sums.
 * Peaks of several such processes need not be at one time: the largest is the row's.
 */
#ifndef REPORT_MODEL_MEMORY_STATS_H
#define REPORT_MODEL_MEMORY_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model/devices.h"
#include "report/model/memory_ledger.h"
#include "report/model/model.h"

/* The driver's last statement on a device. */
struct gp_memory_usage {
	size_t device;
	uint64_t unix_ns;
	uint64_t total_bytes;
	uint64_t in_use_bytes; /* by all processes on the machine */
	uint64_t own_bytes;    /* of the rows GP_MEMORY_OF_DEVICE at that moment; 0 of sums */
};

struct gp_memory_stats {
	/*
	 * By device, host last; GP_MEMORY_OF_DEVICE before its parts.  Devices are indices in the
	 * device list, times are Unix ns.  Blocks of ended processes are neither in now_bytes nor in
	 * later peaks.
	 */
	struct gp_memory_row *rows;
	uint32_t row_count;
	struct gp_memory_usage *usages; /* at most one per device */
	size_t usage_count;
};

/* Returns 0 or -ENOMEM. The device list gets the devices that it lacked. */
int gp_memory_stats_of(struct gp_model *const *models, size_t model_count,
		       struct gp_device_list *devices, struct gp_memory_stats *stats);
void gp_memory_stats_free(struct gp_memory_stats *stats);

/* The largest peak of any device: the peaks of several may be at different times. */
uint64_t gp_memory_stats_peak_bytes(const struct gp_memory_stats *stats);

/* *now_bytes after that event; never below zero. */
void gp_memory_apply(uint64_t *now_bytes, const struct gp_memory_event *event);

#endif
