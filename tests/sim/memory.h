/*
 * Memory of the simulated device: host memory, reserved lazily, so that only touched pages cost
 * memory.  Every range that the program got or registered is known by address.
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
	size_t reserved; /* as accounted */
	enum sim_memory_kind kind;
	bool registered; /* the program's own memory, pinned */
	bool mapped;     /* a piece of an address range that the program reserved */
	bool borrowed;   /* another process's, mapped too */
	unsigned int flags;
	struct sim_device *device;
	CUcontext ctx;
	CUmemoryPool pool;
	void *physical; /* for a mapped range: the memory behind it */
};

struct CUmemPoolHandle_st {
	struct sim_device *device;
	_Atomic uint64_t used_bytes, high_bytes;
	uint64_t threshold_bytes;
	bool dead;
	struct CUmemPoolHandle_st *next; /* of the device's */
};

/* Device or pinned host memory; CUDA_ERROR_OUT_OF_MEMORY when the device has not as much. */
CUresult sim_memory_alloc(CUcontext ctx, enum sim_memory_kind kind, size_t bytes, CUmemoryPool pool,
			  struct sim_range *out);
/* Takes bytes of the device's memory away; false when it has not as much. */
bool sim_memory_charge(struct sim_device *device, uint64_t bytes);
/* Makes known memory that is not ours to free. */
CUresult sim_memory_register(const struct sim_range *range);
/* Forgets and frees the range that starts at an address; out gets its description. */
CUresult sim_memory_free(uintptr_t start, struct sim_range *out);
/* Forgets and frees everything of a context, as its end does, without a report. */
void sim_memory_release(CUcontext ctx);
/* The range that holds an address; false: none, so the program's own pageable memory. */
bool sim_memory_find(uintptr_t address, struct sim_range *out);
/* True when bytes from address on lie in one range of device-accessible memory. */
bool sim_memory_covers(uintptr_t address, size_t bytes);
enum sim_memory_kind sim_memory_kind(uintptr_t address);
/* Address space without memory, aligned to 2 MiB; NULL when there is none. */
void *sim_reserve(size_t bytes);

#endif
