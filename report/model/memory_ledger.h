/*
 * memory_ledger: allocated memory by device and kind: now, at the peak, and in all.
 *
 * A block of a device's own memory counts in two rows: its kind's, and GP_MEMORY_OF_DEVICE.  These
 * are cudaMalloc and its relatives, pools, arrays and physical memory; managed memory (which may
 * lie on the host), host memory and other processes' allocations are not among them.
 */
#ifndef REPORT_MODEL_MEMORY_LEDGER_H
#define REPORT_MODEL_MEMORY_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GP_MEMORY_OF_DEVICE 0        /* a row's kind: all of the device's own together */
#define GP_MEMORY_OF_HOST   SIZE_MAX /* a row's device */

struct gp_memory_row {
	size_t device; /* the caller's number, or GP_MEMORY_OF_HOST */
	uint8_t kind;  /* enum gp_memory_kind or GP_MEMORY_OF_DEVICE */
	uint64_t blocks, now_bytes;
	uint64_t allocations, allocated_bytes;
	uint64_t frees, freed_bytes; /* of these allocations */
	uint64_t peak_bytes;
	uint64_t peak_time; /* when it was first reached, by the caller's clock */
	uint64_t peaks;     /* how often it became larger than ever */
};

/* Zeroed = empty. */
struct gp_memory_ledger {
	struct gp_memory_row *rows; /* in the order of their first blocks */
	uint32_t row_count, row_capacity;
};

void gp_memory_ledger_clear(struct gp_memory_ledger *ledger);

/* The row, or NULL. */
struct gp_memory_row *gp_memory_ledger_row(const struct gp_memory_ledger *ledger, size_t device,
					   uint8_t kind);

/* Makes the rows for blocks of a kind.  Returns 0, -ENOMEM or -EOVERFLOW. */
int gp_memory_ledger_open(struct gp_memory_ledger *ledger, size_t device, uint8_t kind);

/* Adds a block, in the order of time.  Returns as the above. */
int gp_memory_ledger_allocate(struct gp_memory_ledger *ledger, size_t device, uint8_t kind,
			      uint64_t bytes, uint64_t time);

/* Removes a block; is_freed: its free counts, else its process ended. */
void gp_memory_ledger_release(struct gp_memory_ledger *ledger, size_t device, uint8_t kind,
			      uint64_t bytes, bool is_freed);

/* The row whose peak includes such blocks: GP_MEMORY_OF_DEVICE or their own kind. */
uint8_t gp_memory_account(uint8_t kind);

bool gp_memory_is_of_device(uint8_t kind);
bool gp_memory_is_of_host(uint8_t kind);

#endif
