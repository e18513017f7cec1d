#include "report/export/sqlite/sqlite_names.h"

#include "gpuprof/count.h"
#include "report/model/nsys_numbers.h"

static const struct gp_sqlite_name event_types[] = {
	{GP_NSYS_NVTX_CATEGORY, "NvtxCategory", "NvtxCategory"},
	{GP_NSYS_NVTX_MARK, "NvtxMark", "NvtxMark"},
	{GP_NSYS_NVTX_PUSH_POP, "NvtxPushPopRange", "NvtxPushPopRange"},
	{GP_NSYS_NVTX_START_END, "NvtxStartEndRange", "NvtxStartEndRange"},
	{GP_NSYS_NVTX_DOMAIN, "NvtxDomainCreate", "NvtxDomainCreate"},
};

static const struct gp_sqlite_name event_classes[] = {
	{GP_SQLITE_CLASS_RUNTIME, "CUDA_RUNTIME", "CUDA runtime"},
	{GP_SQLITE_CLASS_DRIVER, "CUDA_DRIVER", "CUDA driver"},
};

/* Numbers of CUPTI, then those of unified memory. */
static const struct gp_sqlite_name copies[] = {
	{0, "UNKNOWN", "Unknown"},
	{1, "HTOD", "Host-to-Device"},
	{2, "DTOH", "Device-to-Host"},
	{3, "HTOA", "Host-to-Array"},
	{4, "ATOH", "Array-to-Host"},
	{5, "ATOA", "Array-to-Array"},
	{6, "ATOD", "Array-to-Device"},
	{7, "DTOA", "Device-to-Array"},
	{8, "DTOD", "Device-to-Device"},
	{9, "HTOH", "Host-to-Host"},
	{10, "PTOP", "Peer-to-Peer"},
	{GP_NSYS_UNIFIED_HTOD, "UVM_HTOD", "Unified Host-to-Device"},
	{GP_NSYS_UNIFIED_DTOH, "UVM_DTOH", "Unified Device-to-Host"},
	{GP_NSYS_UNIFIED_DTOD, "UVM_DTOD", "Unified Device-to-Device"},
};

static const struct gp_sqlite_name memories[] = {
	{0, "PAGEABLE", "Pageable"},
	{GP_NSYS_PINNED, "PINNED", "Pinned"},
	{GP_NSYS_DEVICE, "DEVICE", "Device"},
	{GP_NSYS_ARRAY, "ARRAY", "Array"},
	{GP_NSYS_MANAGED, "MANAGED", "Managed"},
	{5, "DEVICE_STATIC", "Device Static"},
	{6, "MANAGED_STATIC", "Managed Static"},
	{GP_NSYS_UNKNOWN_MEMORY, "UNKNOWN", "Unknown"},
};

static const struct gp_sqlite_name memory_operations[] = {
	{0, "ALLOCATION", "Allocation"},
	{1, "DEALLOCATION", "Deallocation"},
};

static const struct gp_sqlite_name launch_types[] = {
	{0, "UNKNOWN", "Unknown"},
	{1, "REGULAR", "Regular"},
	{2, "COOPERATIVE_SINGLE_DEVICE", "Coop Single Device"},
	{3, "COOPERATIVE_MULTI_DEVICE", "Coop Multi Device"},
};

static const struct gp_sqlite_name syncs[] = {
	{0, "UNKNOWN", "Unknown"},
	{1, "EVENT_SYNCHRONIZE", "Event sync"},
	{2, "STREAM_WAIT_EVENT", "Stream wait sync"},
	{3, "STREAM_SYNCHRONIZE", "Stream sync"},
	{4, "CONTEXT_SYNCHRONIZE", "Context sync"},
};

/* Numbers of CUPTI. */
static const struct gp_sqlite_name overheads[] = {
	{0, "UNKNOWN", "Unknown"},
	{1, "DRIVER_COMPILER", "Driver Compiler"},
	{1 << 16, "CUPTI_BUFFER_FLUSH", "Buffer Flush"},
	{2 << 16, "CUPTI_INSTRUMENTATION", "Instrumentation"},
	{3 << 16, "CUPTI_RESOURCE", "Resource"},
	{4 << 16, "RUNTIME_TRIGGERED_MODULE_LOADING", "Runtime Triggered Module Loading"},
	{5 << 16, "LAZY_FUNCTION_LOADING", "Lazy Function Loading"},
	{6 << 16, "COMMAND_BUFFER_FULL", "Command Buffer Full"},
	{7 << 16, "ACTIVITY_BUFFER_REQUEST", "Activity Buffer Request"},
	{8 << 16, "UVM_ACTIVITY_INIT", "UVM Activity Init"},
};

static const struct gp_sqlite_name streams[] = {
	{0, "UNKNOWN", "Unknown"},
	{1, "DEFAULT", "Default stream"},
	{2, "NON_BLOCKING", "Non-blocking stream"},
	{3, "NULL", "Null stream"},
};

static const struct gp_sqlite_name accesses[] = {
	{0, "UNKNOWN", "Unknown"}, {1, "READ", "Read"},         {2, "WRITE", "Write"},
	{3, "ATOMIC", "Atomic"},   {4, "PREFETCH", "Prefetch"},
};

static const struct gp_sqlite_name migrations[] = {
	{0, "UNKNOWN", "Unknown"},     {1, "USER", "User"},
	{2, "COHERENCE", "Coherence"}, {3, "PREFETCH", "Prefetch"},
	{4, "EVICTION", "Eviction"},   {5, "ACCESS_COUNTERS", "Access counters"},
};

static const struct gp_sqlite_name severities[] = {
	{1, "Info", "Info"},
	{GP_SQLITE_WARNING, "Warning", "Warning"},
	{3, "Error", "Error"},
};

static const struct gp_sqlite_name sources[] = {
	{1, "Injection", "Injection"},
	{2, "Daemon", "Daemon"},
	{GP_SQLITE_SOURCE_ANALYSIS, "Analysis", "Analysis"},
};

static const struct gp_sqlite_name clocks[] = {
	{GP_SQLITE_CLOCK_TARGET, "TargetTimestamp", "TargetTimestamp"},
	{2, "HostTimestamp", "HostTimestamp"},
};

const struct gp_sqlite_names gp_sqlite_all_names[] = {
	{"ENUM_NSYS_EVENT_TYPE", "", event_types, COUNT(event_types)},
	{"ENUM_NSYS_EVENT_CLASS", "TRACE_PROCESS_EVENT_", event_classes, COUNT(event_classes)},
	{"ENUM_CUDA_MEMCPY_OPER", "CUDA_MEMCPY_KIND_", copies, COUNT(copies)},
	{"ENUM_CUDA_MEM_KIND", "CUDA_MEMOPR_MEMORY_KIND_", memories, COUNT(memories)},
	{"ENUM_CUDA_DEV_MEM_EVENT_OPER", "CUDA_DEV_MEM_EVENT_OPR_", memory_operations,
	 COUNT(memory_operations)},
	{"ENUM_CUDA_KERNEL_LAUNCH_TYPE", "CUDA_KERNEL_LAUNCH_TYPE_", launch_types,
	 COUNT(launch_types)},
	{"ENUM_CUPTI_SYNC_TYPE", "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_", syncs, COUNT(syncs)},
	{"ENUM_CUPTI_OVERHEAD_TYPE", "CUPTI_ACTIVITY_OVERHEAD_", overheads, COUNT(overheads)},
	{"ENUM_CUPTI_STREAM_TYPE", "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_", streams, COUNT(streams)},
	{"ENUM_CUDA_UNIF_MEM_ACCESS_TYPE", "CUDA_UNIF_MEM_ACCESS_TYPE_", accesses, COUNT(accesses)},
	{"ENUM_CUDA_UNIF_MEM_MIGRATION", "CUDA_UNIF_MEM_MIGRATION_", migrations, COUNT(migrations)},
	{"ENUM_DIAGNOSTIC_SEVERITY_LEVEL", "", severities, COUNT(severities)},
	{"ENUM_DIAGNOSTIC_SOURCE_TYPE", "", sources, COUNT(sources)},
	{"ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE", "", clocks, COUNT(clocks)},
};
const int gp_sqlite_name_tables = COUNT(gp_sqlite_all_names);
