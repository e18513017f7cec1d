/*
 * occupancy: how full a launch can make a device's multiprocessors (SMs), and its limit.
 *
 * It uses the records of the device and of the launch's shape alone: registers and shared memory as
 * the hardware hands them out, the block's threads, and the blocks that an SM takes. Results equal
 * cudaOccupancyMaxActiveBlocksPerMultiprocessor for functions without a carve-out preference
 * (tests/gpu/programs/occupancy.cu compares); a preference is not in the records.
 */
#ifndef REPORT_MODEL_OCCUPANCY_H
#define REPORT_MODEL_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/record.h"

enum gp_occupancy_limit {
	GP_LIMIT_NONE,       /* the SM is full: as many warps as it can hold */
	GP_LIMIT_REGISTERS,  /* fewer registers in each thread would let in more blocks */
	GP_LIMIT_SHARED,     /* shared memory of a block */
	GP_LIMIT_BLOCK_SIZE, /* warps are left over that another block does not fit into */
	GP_LIMIT_BLOCKS,     /* the SM takes no more blocks, and these are small */
	GP_OCCUPANCY_LIMITS
};

#define GP_OCCUPANCY_NO_LIMIT UINT32_MAX

struct gp_occupancy {
	/* blocks that an SM can hold at the same time: by each limit alone, and by all */
	uint32_t by_registers, by_shared, by_threads, by_blocks;
	uint32_t blocks; /* at least 1 */
	uint8_t limit;   /* enum gp_occupancy_limit */
	uint32_t warps_per_block, warps_most;
	/* of the SM's warps that these blocks have: the theoretical occupancy, 0 to 1 */
	double share;

	/* the grid */
	uint64_t grid_blocks;
	double waves;    /* grid_blocks / the device's blocks at one time; clusters: at least */
	double sms_used; /* the share of the SMs that has a block at all, 0 to 1 */
	double tail; /* of more than one wave: the share of all waves' places that stays empty */
	double grid_share; /* as share, but of the grid: the average that its blocks reach */
};

/* False: not known for that device, or the launch is none that could run there. */
bool gp_occupancy_of(const struct gp_record_device *device, const struct gp_record_shape *shape,
		     struct gp_occupancy *found);

/* "registers", ...; "-" for none. */
const char *gp_occupancy_limit_name(enum gp_occupancy_limit limit);

#endif
