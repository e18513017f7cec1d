/*
 * Memory of the simulated device: lazily reserved host memory, so that only touched pages cost
 * memory.  Every range that the program allocated or registered is found by address.
 */
#ifndef GPUPROF_TESTS_SIM_MEMORY_H
#define GPUPROF_TESTS_SIM_MEMORY_H

#include "tests/sim/device.h"

/* Values of CUpti_ActivityMemoryKind. */
enum sim_memory_kind {
	SIM_MEMORY_PAGEABLE = 1,
	SIM_MEMORY_PINNED = 2,
	SIM_MEMORY_DEVICE = 3,
	SIM_MEMORY_ARRAY = 4,
	SIM_MEMORY_MANAGED = 5,
};

struct sim_range {
	uintptr_t start;
	size_t bytes;    /* the size that the program requested */
	size_t reserved; /* the accounted size */
	enum sim_memory_kind kind;
	bool registered; /* the program's own memory, pinned */
	bool mapped;     /* part of an address range that the program reserved */
	bool borrowed;   /* mapped memory of another process */
	unsigned int flags;
	struct sim_device *device;
	CUcontext ctx;
	CUmemoryPool pool;
	void *physical; /* for a mapped range: the physical memory */
};

struct CUmemPoolHandle_st {
	struct sim_device *device;
	_Atomic uint64_t used_bytes, high_bytes;
	uint64_t threshold_bytes;
	bool dead;
	struct CUmemPoolHandle_st *next; /* in the list of the device's pools */
};

/*
 * Allocate device or pinned host memory.  CUDA_ERROR_OUT_OF_MEMORY: the device has less memory
 * left.
 */
CUresult sim_memory_alloc(CUcontext ctx, enum sim_memory_kind kind, size_t bytes, CUmemoryPool pool,
			  struct sim_range *out);
/* Charge bytes to the device's memory.  False: the device has fewer left. */
bool sim_memory_charge(struct sim_device *device, uint64_t bytes);
/* Register memory that is not freed here. */
CUresult sim_memory_register(const struct sim_range *range);
/* Forget and free the range that starts at this address.  out: its description. */
CUresult sim_memory_free(uintptr_t start, struct sim_range *out);
/* Forget and free all memory of a context, as its destruction does, without a report. */
void sim_memory_release(CUcontext ctx);
/* The range that contains an address.  False: none, so it is the program's pageable memory. */
bool sim_memory_find(uintptr_t address, struct sim_range *out);
/* Whether `bytes` from this address on lie in one range of device-accessible memory. */
bool sim_memory_covers(uintptr_t address, size_t bytes);
enum sim_memory_kind sim_memory_kind(uintptr_t address);
/* Reserve address space, aligned to 2 MiB; NULL: none left. */
void *sim_reserve(size_t bytes);

#endif
