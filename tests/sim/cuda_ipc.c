/*
 * libcuda: memory of other processes.  Opened memory has the size of the original and its own
 * address.  Its bytes are not shared.
 */
#include "tests/sim/driver.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LENT_MAGIC 0x4c454e54u

struct lent {
	uint32_t magic;
	int32_t pid;
	uint64_t bytes;
};

CUresult sim_cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
	struct lent lent = {.magic = LENT_MAGIC, .pid = getpid()};
	struct sim_range range;

	if (!sim_memory_find(dptr, &range) || range.kind != SIM_MEMORY_DEVICE || range.mapped)
		return CUDA_ERROR_INVALID_VALUE;
	lent.bytes = range.bytes;
	memset(pHandle, 0, sizeof(*pHandle));
	memcpy(pHandle, &lent, sizeof(lent));
	return CUDA_SUCCESS;
}

/* The size is rounded up to the pages of sim_reserve(). */
CUresult sim_cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
	struct sim_range range = {.kind = SIM_MEMORY_DEVICE, .mapped = true, .borrowed = true};
	CUresult r = sim_drv_context(&range.ctx);
	struct lent lent;

	(void)Flags;
	memcpy(&lent, &handle, sizeof(lent));
	if (r)
		return r;
	if (lent.magic != LENT_MAGIC)
		return CUDA_ERROR_INVALID_VALUE;
	if (lent.pid == getpid())
		return CUDA_ERROR_INVALID_CONTEXT;
	range.device = range.ctx->device;
	range.bytes = lent.bytes;
	range.start = (uintptr_t)sim_reserve(lent.bytes);
	if (!range.start || mprotect((void *)range.start, lent.bytes, PROT_READ | PROT_WRITE) ||
	    sim_memory_register(&range))
		return CUDA_ERROR_MAP_FAILED;
	sim_drv_report_memory(&range, false);
	*pdptr = range.start;
	return CUDA_SUCCESS;
}

CUresult sim_cuIpcCloseMemHandle(CUdeviceptr dptr)
{
	struct sim_range range;

	if (!sim_memory_find(dptr, &range) || !range.borrowed || sim_memory_free(dptr, &range))
		return CUDA_ERROR_INVALID_VALUE;
	munmap((void *)range.start, range.bytes);
	sim_drv_report_memory(&range, true);
	return CUDA_SUCCESS;
}
