#include "report/import/api_class.h"

#include <string.h>

/*
 * The first row that a name begins with, after "cuda", "cu", "hip" or the prefix of another API. HIP
 * and MUSA functions have CUDA's names, with some of their own.
 */
static const struct {
	const char *begin;
	enum gp_api_class class;
} classes[] = {
	{"LaunchHostFunc", GP_API_HOST},
	{"StreamAddCallback", GP_API_HOST},
	{"Launch", GP_API_LAUNCH},
	{"ModuleLaunch", GP_API_LAUNCH},
	{"ExtLaunch", GP_API_LAUNCH},
	{"ExtModuleLaunch", GP_API_LAUNCH},
	{"Memcpy", GP_API_COPY},
	{"Memset", GP_API_MEMSET},
	{"GraphLaunch", GP_API_GRAPH_LAUNCH},
	{"StreamBeginCapture", GP_API_CAPTURE_BEGIN},
	{"StreamBeginRecapture", GP_API_CAPTURE_BEGIN},
	{"StreamEndCapture", GP_API_CAPTURE_END},
	{"CtxSynchronize", GP_API_SYNC},
	{"CtxWaitEvent", GP_API_SYNC},
	{"DeviceSynchronize", GP_API_SYNC},
	{"EventSynchronize", GP_API_SYNC},
	{"ExecutionCtxSynchronize", GP_API_SYNC},
	{"ExecutionCtxWaitEvent", GP_API_SYNC},
	{"GreenCtxWaitEvent", GP_API_SYNC},
	{"StreamSynchronize", GP_API_SYNC},
	{"StreamWaitEvent", GP_API_SYNC},
	{"ThreadSynchronize", GP_API_SYNC},
	{"CtxRecordEvent", GP_API_EVENT},
	{"EventRecord", GP_API_EVENT},
	{"ExecutionCtxRecordEvent", GP_API_EVENT},
	{"GreenCtxRecordEvent", GP_API_EVENT},
	{"Array3DCreate", GP_API_ALLOC},
	{"ArrayCreate", GP_API_ALLOC},
	{"HostAlloc", GP_API_ALLOC},
	{"HostMalloc", GP_API_ALLOC},
	{"HostRegister", GP_API_ALLOC},
	{"IpcOpenMemHandle", GP_API_ALLOC},
	{"Malloc", GP_API_ALLOC},
	{"MemAlloc", GP_API_ALLOC},
	{"MemCreate", GP_API_ALLOC},
	{"MemHostAlloc", GP_API_ALLOC},
	{"MemHostRegister", GP_API_ALLOC},
	{"MemImportFromShareableHandle", GP_API_ALLOC},
	{"MipmappedArrayCreate", GP_API_ALLOC},
	{"MulticastCreate", GP_API_ALLOC},
	{"ArrayDestroy", GP_API_FREE},
	{"Free", GP_API_FREE},
	{"HostFree", GP_API_FREE},
	{"HostUnregister", GP_API_FREE},
	{"IpcCloseMemHandle", GP_API_FREE},
	{"MemFree", GP_API_FREE},
	{"MemHostUnregister", GP_API_FREE},
	{"MemRelease", GP_API_FREE},
	{"MipmappedArrayDestroy", GP_API_FREE},
	{"CompilePtx", GP_API_MODULE},
	{"FuncLoad", GP_API_MODULE},
	{"LibraryGet", GP_API_MODULE},
	{"LibraryLoad", GP_API_MODULE},
	{"LibraryUnload", GP_API_MODULE},
	{"Link", GP_API_MODULE},
	{"ModuleGetFunction", GP_API_MODULE},
	{"ModuleGetGlobal", GP_API_MODULE},
	{"ModuleLoad", GP_API_MODULE},
	{"ModuleUnload", GP_API_MODULE},
	/* of Intel's Unified Runtime and Level Zero, and of Cambricon's driver */
	{"EnqueueKernelLaunch", GP_API_LAUNCH},
	{"CommandListAppendLaunch", GP_API_LAUNCH},
	{"InvokeKernel", GP_API_LAUNCH},
	{"EnqueueUSMMemcpy", GP_API_COPY},
	{"EnqueueMemBuffer", GP_API_COPY},
	{"CommandListAppendMemoryCopy", GP_API_COPY},
	{"EnqueueUSMFill", GP_API_MEMSET},
	{"CommandListAppendMemoryFill", GP_API_MEMSET},
	{"EventWait", GP_API_SYNC},
	{"QueueFinish", GP_API_SYNC},
	{"EventHostSynchronize", GP_API_SYNC},
	{"FenceHostSynchronize", GP_API_SYNC},
	{"CommandListHostSynchronize", GP_API_SYNC},
	{"CommandQueueSynchronize", GP_API_SYNC},
	{"USMFree", GP_API_FREE},
	{"USM", GP_API_ALLOC},
	{"ModuleCreate", GP_API_MODULE},
	{"ProgramBuild", GP_API_MODULE},
	{"ContextCreate", GP_API_CONTROL},
	{"QueueCreate", GP_API_CONTROL},
	{"CommandQueueCreate", GP_API_CONTROL},
	{"CtxGet", GP_API_OTHER},
	{"GraphGet", GP_API_OTHER},
	{"GraphDebug", GP_API_OTHER},
	{"GraphKernelNodeGet", GP_API_OTHER},
	{"ExecutionCtxGet", GP_API_OTHER},
	{"GreenCtxGet", GP_API_OTHER},
	{"MemGet", GP_API_OTHER},
	{"MemPoolGet", GP_API_OTHER},
	{"MemRangeGet", GP_API_OTHER},
	{"MulticastGet", GP_API_OTHER},
	{"StreamGet", GP_API_OTHER},
	{"StreamIsCapturing", GP_API_OTHER},
	{"StreamQuery", GP_API_OTHER},
	{"Ctx", GP_API_CONTROL},
	{"DestroyExternal", GP_API_CONTROL},
	{"DeviceDisablePeerAccess", GP_API_CONTROL},
	{"DeviceEnablePeerAccess", GP_API_CONTROL},
	{"DeviceGraphMemTrim", GP_API_CONTROL},
	{"DevicePrimaryCtxRe", GP_API_CONTROL},
	{"DeviceReset", GP_API_CONTROL},
	{"DeviceSet", GP_API_CONTROL},
	{"ExternalMemory", GP_API_CONTROL},
	{"Graph", GP_API_CONTROL},
	{"ExecutionCtx", GP_API_CONTROL},
	{"GreenCtx", GP_API_CONTROL},
	{"ImportExternal", GP_API_CONTROL},
	{"InitDevice", GP_API_CONTROL},
	{"IpcGet", GP_API_CONTROL},
	{"IpcOpen", GP_API_CONTROL},
	{"Mem", GP_API_CONTROL},
	{"Multicast", GP_API_CONTROL},
	{"Profiler", GP_API_CONTROL},
	{"SignalExternal", GP_API_CONTROL},
	{"Stream", GP_API_CONTROL},
	{"ThreadExit", GP_API_CONTROL},
	{"WaitExternal", GP_API_CONTROL},
};

/* Skips the prefixes of the APIs, and of functions that the compiler calls. */
static const char *behind_prefix(const char *name, size_t *bytes)
{
	static const char *const prefixes[] = {"__cuda", "cuda", "cu", "hip",
					       "musa",   "ur",   "ze", "cn"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t length = strlen(prefixes[i]);

		if (*bytes > length && memcmp(name, prefixes[i], length) == 0) {
			*bytes -= length;
			return name + length;
		}
	}
	*bytes = 0;
	return name;
}

enum gp_api_class gp_import_api_class(const char *name, size_t bytes)
{
	const char *rest = behind_prefix(name, &bytes);

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		size_t length = strlen(classes[i].begin);

		if (bytes >= length && memcmp(rest, classes[i].begin, length) == 0)
			return classes[i].class;
	}
	return GP_API_OTHER;
}
