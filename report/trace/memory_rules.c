#include "report/trace/memory_rules.h"

/* cudaErrorCudartUnloading, CUDA_ERROR_DEINITIALIZED */
#define CODE_DEINITIALIZED 4

static const uint8_t families[GP_MEMORY_KINDS] = {
	[GP_MEMORY_DEVICE] = GP_MEMORY_DEVICE,         [GP_MEMORY_ASYNC] = GP_MEMORY_DEVICE,
	[GP_MEMORY_MANAGED] = GP_MEMORY_DEVICE,        [GP_MEMORY_PINNED] = GP_MEMORY_PINNED,
	[GP_MEMORY_REGISTERED] = GP_MEMORY_REGISTERED, [GP_MEMORY_ARRAY] = GP_MEMORY_ARRAY,
	[GP_MEMORY_PHYSICAL] = GP_MEMORY_PHYSICAL,     [GP_MEMORY_IPC] = GP_MEMORY_IPC,
};

uint8_t gp_memory_family(uint8_t memory_kind)
{
	return memory_kind < GP_MEMORY_KINDS ? families[memory_kind] : 0;
}

bool gp_memory_took_effect(const struct gp_record_memory *record)
{
	uint16_t code = GP_CALL_CODE(record->call.status);

	if (record->call.status & GP_CALL_CAPTURED)
		return false;
	return code == 0 || (record->op == GP_MEMORY_FREE && code == CODE_DEINITIALIZED);
}

bool gp_memory_is_about_handle(const struct gp_record_memory *record)
{
	return record->op == GP_MEMORY_MAP || record->op == GP_MEMORY_UNMAP ||
	       record->op == GP_MEMORY_RETAIN;
}

bool gp_memory_is_event(const struct gp_record_memory *record)
{
	return (record->op == GP_MEMORY_ALLOC || record->op == GP_MEMORY_FREE) &&
	       record->memory_kind < GP_MEMORY_KINDS;
}
