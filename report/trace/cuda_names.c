#include "report/trace/cuda_names.h"

#include <assert.h>
#include <stddef.h>

#include "gpuprof/count.h"
#include "gpuprof/record.h"

static const char *const copy_kinds[] = {
	"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP",
};
static_assert(COUNT(copy_kinds) == GP_COPY_KINDS, "a word for every kind of copy");

static const char *const memories[] = {
	"Unknown", "Pageable", "Pinned",        "Device",
	"Array",   "Managed",  "Device Static", "Managed Static",
};
static_assert(COUNT(memories) == GP_COPY_MEMORIES, "a word for every memory of copies");

/* The index is CUPTI's number / 65536; the compiler, number 1, is separate. */
static const char *const overheads[] = {
	"Unknown",
	"Buffer Flush",
	"Instrumentation",
	"Resource",
	"Runtime Triggered Module Loading",
	"Lazy Function Loading",
	"Command Buffer Full",
	"Activity Buffer Request",
	"UVM Activity Init",
};

static const char *const syncs[] = {
	"Unknown", "event", "stream waits for event", "stream", "context",
};

static const char *const unifieds[] = {
	"Unknown",
	"migration HtoD",
	"migration DtoH",
	"page fault of the CPU",
	"page fault of a GPU",
	"thrashing",
	"throttling",
	"remote mapping",
	"migration DtoD",
};
static_assert(COUNT(unifieds) == GP_UNIFIED_KINDS, "a word for every kind");

static const char *const accesses[] = {"", "read", "write", "atomic", "prefetch"};

static const char *const migration_causes[] = {
	"", "user", "coherence", "prefetch", "eviction", "access counters",
};

static const char *const mapping_causes[] = {
	"", "coherence", "thrashing", "policy", "out of memory", "eviction",
};

static const char *const stream_kinds[] = {"", "blocking", "non-blocking", "null"};

static const char *const launch_types[] = {
	"regular",
	"cooperative",
	"cooperative on several devices",
	"command list",
};

static const char *const allocations[] = {
	"unknown", "device",   "device, from a pool", "managed", "pinned host", "registered host",
	"array",   "physical", "other process's",
};
static_assert(COUNT(allocations) == GP_MEMORY_KINDS, "a word for every kind of memory");

static const struct {
	uint16_t status;
	const char *runtime_name, *driver_name, *text;
} statuses[] = {
#define GP_CUDA_ERROR(status, runtime_name, driver_name, text)                                     \
	{status, runtime_name, driver_name, text},
#include "report/trace/cuda_error.def"
#undef GP_CUDA_ERROR
};

static const char *const jit_ops[] = {"unknown work on", "load from cache", "store in cache",
				      "compile"};

static const char *const jit_entries[] = {"unknown code", "PTX to CUBIN", "NVVM IR to PTX"};

static const char *const gate_reasons[] = {
	"unknown",
	"the options, at the start",
	"cudaProfilerStart or cudaProfilerStop",
	"the range of --capture-range",
	"--delay or --duration",
	"--after-launches or --launches",
	"a signal",
	"gpuprof_start() or gpuprof_stop()",
	"--max-file",
	"--keep-last",
};

static const char *pick(const char *const *names, size_t count, uint32_t index)
{
	return index < count ? names[index] : "Unknown";
}

const char *gp_copy_kind_name(uint8_t copy_kind)
{
	return pick(copy_kinds, COUNT(copy_kinds), copy_kind);
}

const char *gp_memory_name(uint16_t memory_kind)
{
	return pick(memories, COUNT(memories), memory_kind);
}

const char *gp_overhead_name(uint32_t overhead_kind)
{
	if (overhead_kind == 1)
		return "Driver Compiler";
	if (overhead_kind == GP_OVERHEAD_HW_WINDOW)
		return "Hardware Counters";
	if (overhead_kind == GP_OVERHEAD_OWN_WORK)
		return "gpuprof's functions in Python";
	return overhead_kind & 0xffff ? "Unknown"
				      : pick(overheads, COUNT(overheads), overhead_kind >> 16);
}

const char *gp_launch_type_name(uint8_t launch_type)
{
	return pick(launch_types, COUNT(launch_types), launch_type);
}

const char *gp_allocation_name(uint8_t allocation)
{
	return pick(allocations, COUNT(allocations), allocation);
}

const char *gp_sync_name(uint16_t sync_kind)
{
	return pick(syncs, COUNT(syncs), sync_kind);
}

const char *gp_jit_op_name(uint8_t op_kind)
{
	return pick(jit_ops, COUNT(jit_ops), op_kind);
}

const char *gp_jit_entry_name(uint8_t entry_kind)
{
	return pick(jit_entries, COUNT(jit_entries), entry_kind);
}

const char *gp_unified_name(uint16_t counter_kind)
{
	return pick(unifieds, COUNT(unifieds), counter_kind);
}

const char *gp_unified_cause_name(uint16_t counter_kind, uint32_t flags)
{
	switch (counter_kind) {
	case GP_UNIFIED_HTOD:
	case GP_UNIFIED_DTOH:
	case GP_UNIFIED_DTOD:
		return flags < COUNT(migration_causes) ? migration_causes[flags] : "";
	case GP_UNIFIED_GPU_FAULT:
		return flags < COUNT(accesses) ? accesses[flags] : "";
	case GP_UNIFIED_REMOTE:
		return flags < COUNT(mapping_causes) ? mapping_causes[flags] : "";
	default:
		return "";
	}
}

const char *gp_stream_kind_name(uint16_t flags)
{
	return flags < COUNT(stream_kinds) ? stream_kinds[flags] : "";
}

bool gp_jit_op_compiles(uint8_t op_kind)
{
	return op_kind == 3;
}

bool gp_overhead_is_of_loading(uint32_t overhead_kind)
{
	return overhead_kind == 4 << 16 || overhead_kind == 5 << 16;
}

bool gp_overhead_is_of_queue(uint32_t overhead_kind)
{
	return overhead_kind == 6 << 16;
}

bool gp_overhead_is_of_profiler(uint32_t overhead_kind)
{
	return (overhead_kind >= 1 << 16 && overhead_kind <= 3 << 16) || overhead_kind == 7 << 16 ||
	       overhead_kind == 8 << 16 || overhead_kind == GP_OVERHEAD_HW_WINDOW ||
	       overhead_kind == GP_OVERHEAD_OWN_WORK;
}

bool gp_overhead_is_of_context(uint32_t overhead_kind)
{
	return overhead_kind == 3 << 16;
}

/* The compiler, modules loaded by the runtime, functions loaded on first use. */
bool gp_overhead_is_of_code(uint32_t overhead_kind)
{
	return overhead_kind == 1 || gp_overhead_is_of_loading(overhead_kind);
}

const char *gp_gate_reason_name(uint8_t reason)
{
	return pick(gate_reasons, COUNT(gate_reasons), reason);
}

const char *gp_status_name(uint16_t status)
{
	for (size_t i = 0; i < COUNT(statuses); i++)
		if (statuses[i].status == status)
			return statuses[i].text;
	return "";
}

const char *gp_status_symbol(uint16_t status, bool driver)
{
	for (size_t i = 0; i < COUNT(statuses); i++)
		if (statuses[i].status == status)
			return driver ? statuses[i].driver_name : statuses[i].runtime_name;
	return "";
}
