#include "report/model/occupancy.h"

#include <stddef.h>

#include "gpuprof/count.h"

#define REGISTER_GRANULE 256u /* registers, to a warp */

/*
 * Limits that the records do not hold, by compute capability, from that one on and within its major
 * number.
 */
struct generation {
	uint16_t major, minor;
	uint16_t blocks;     /* that an SM takes, for traces that do not have it */
	uint16_t partitions; /* of an SM's registers: a warp's are all in one */
	uint16_t shared_granule, shared_reserved; /* bytes of a block */
};

static const struct generation generations[] = {
	{5, 0, 32, 4, 256, 0},     {6, 0, 32, 2, 256, 0},     {6, 1, 32, 4, 256, 0},
	{7, 0, 32, 4, 256, 0},     {7, 5, 16, 4, 256, 0},     {8, 0, 32, 4, 128, 1024},
	{8, 6, 16, 4, 128, 1024},  {8, 9, 24, 4, 128, 1024},  {9, 0, 32, 4, 128, 1024},
	{10, 0, 32, 4, 128, 1024}, {10, 1, 24, 4, 128, 1024}, {10, 2, 32, 4, 128, 1024},
	{11, 0, 24, 4, 128, 1024}, {12, 0, 24, 4, 128, 1024},
};

static const struct generation *find_generation(const struct gp_record_device *device)
{
	const struct generation *found = NULL;

	for (size_t i = 0; i < COUNT(generations); i++)
		if (generations[i].major == device->compute_major &&
		    generations[i].minor <= device->compute_minor)
			found = &generations[i];
	return found;
}

static uint64_t round_up(uint64_t number, uint64_t granule)
{
	return (number + granule - 1) / granule * granule;
}

static uint32_t least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

/* The product, or UINT64_MAX where it is more than any launch has. */
static uint64_t volume(const uint32_t size[3])
{
	uint64_t area, all;

	if (__builtin_mul_overflow((uint64_t)size[0], size[1], &area) ||
	    __builtin_mul_overflow(area, size[2], &all))
		return UINT64_MAX;
	return all;
}

/*
 * Warps get registers in one partition each; to fit at all, a block counts as if it had warps in
 * every partition alike.
 */
static uint32_t limit_registers(const struct gp_record_device *device,
				const struct generation *generation,
				const struct gp_record_shape *shape, uint32_t warps)
{
	uint64_t of_warp =
		round_up((uint64_t)shape->registers * device->warp_threads, REGISTER_GRANULE);
	uint64_t of_partition = device->registers_per_multiprocessor / generation->partitions;

	if (of_warp == 0)
		return GP_OCCUPANCY_NO_LIMIT;
	if (of_warp * round_up(warps, generation->partitions) > device->registers_per_block)
		return 0;
	return least(of_partition / of_warp * generation->partitions / warps,
		     GP_OCCUPANCY_NO_LIMIT);
}

static uint32_t limit_shared(const struct gp_record_device *device,
			     const struct generation *generation,
			     const struct gp_record_shape *shape)
{
	uint64_t of_block =
		round_up((uint64_t)shape->static_shared_bytes + shape->dynamic_shared_bytes +
				 generation->shared_reserved,
			 generation->shared_granule);

	return of_block == 0 ? GP_OCCUPANCY_NO_LIMIT
			     : least(device->shared_per_multiprocessor_bytes / of_block,
				     GP_OCCUPANCY_NO_LIMIT);
}

/* Among equal limits, those that a change of the kernel can raise come first. */
static uint8_t name_limit(const struct gp_occupancy *found)
{
	if (found->blocks * found->warps_per_block == found->warps_most)
		return GP_LIMIT_NONE;
	if (found->blocks == found->by_registers)
		return GP_LIMIT_REGISTERS;
	if (found->blocks == found->by_shared)
		return GP_LIMIT_SHARED;
	return found->blocks == found->by_threads ? GP_LIMIT_BLOCK_SIZE : GP_LIMIT_BLOCKS;
}

/* Blocks of a cluster start together: the rest of a wave that is no whole cluster stays empty. */
static uint64_t resident_blocks(const struct gp_record_shape *shape, uint64_t most)
{
	uint64_t cluster = (uint64_t)shape->cluster[0] * shape->cluster[1] * shape->cluster[2];

	return cluster > 1 && cluster <= most ? most / cluster * cluster : most;
}

static void measure_grid(const struct gp_record_device *device, const struct gp_record_shape *shape,
			 struct gp_occupancy *found)
{
	double sms = device->multiprocessors, grid = (double)found->grid_blocks;
	uint64_t at_once =
		resident_blocks(shape, (uint64_t)found->blocks * device->multiprocessors);
	uint64_t whole = found->grid_blocks / at_once, rest = found->grid_blocks % at_once;
	double on_sm = grid / sms < found->blocks ? grid / sms : found->blocks;

	found->waves = grid / (double)at_once;
	found->sms_used = grid < sms ? grid / sms : 1;
	found->tail = whole > 0 && rest > 0 ? 1 - found->waves / (double)(whole + 1) : 0;
	found->grid_share = on_sm * found->warps_per_block / found->warps_most;
}

bool gp_occupancy_of(const struct gp_record_device *device, const struct gp_record_shape *shape,
		     struct gp_occupancy *found)
{
	const struct generation *generation = find_generation(device);
	uint64_t threads = volume(shape->block);

	*found = (struct gp_occupancy){.grid_blocks = volume(shape->grid)};
	if (!generation || device->warp_threads == 0 || device->multiprocessors == 0 ||
	    threads == 0 || found->grid_blocks == 0 || threads > device->max_threads_per_block)
		return false;
	found->warps_per_block =
		(uint32_t)(round_up(threads, device->warp_threads) / device->warp_threads);
	found->warps_most = device->max_threads_per_multiprocessor / device->warp_threads;
	found->by_threads = found->warps_most / found->warps_per_block;
	found->by_blocks = device->max_blocks_per_multiprocessor > 0
				   ? device->max_blocks_per_multiprocessor
				   : generation->blocks;
	found->by_registers = limit_registers(device, generation, shape, found->warps_per_block);
	found->by_shared = limit_shared(device, generation, shape);
	found->blocks = least(least(found->by_threads, found->by_blocks),
			      least(found->by_registers, found->by_shared));
	if (found->blocks == 0)
		return false;
	found->limit = name_limit(found);
	found->share = (double)found->blocks * found->warps_per_block / found->warps_most;
	measure_grid(device, shape, found);
	return true;
}

const char *gp_occupancy_limit_name(enum gp_occupancy_limit limit)
{
	static const char *const names[] = {
		[GP_LIMIT_NONE] = "-",
		[GP_LIMIT_REGISTERS] = "registers",
		[GP_LIMIT_SHARED] = "shared memory",
		[GP_LIMIT_BLOCK_SIZE] = "block size",
		[GP_LIMIT_BLOCKS] = "blocks per SM",
	};

	return names[limit];
}
