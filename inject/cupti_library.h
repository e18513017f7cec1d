/*
 * cupti_library: finds and loads the right libcupti, and knows what its version can do.
 * All knowledge of where libcupti lies and which version has which function is here.  The layouts
 * of its records are in inject/cupti_decode.c.
 */
#ifndef INJECT_CUPTI_LIBRARY_H
#define INJECT_CUPTI_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

/* cuptiGetVersion() of the releases that matter. */
#define GP_CUPTI_11_8 18u /* the oldest that current drivers bear: older ones crash the program */
#define GP_CUPTI_12_2 20u /* overhead records have a correlation id */
#define GP_CUPTI_12_3 21u /* attribute "buffers per thread" */
#define GP_CUPTI_12_4 22u /* compiler records have a thread */
#define GP_CUPTI_12_8                                                                              \
	26u /* copies count merged ones; event records have device, time and id, waits name that id */
#define GP_CUPTI_12_9 28u     /* event records are a kind of their own */
#define GP_CUPTI_13_0 130000u /* kernel records tell launches from the device */

/* CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, which headers before 12.3 lack. */
#define GP_CUPTI_PER_THREAD_BUFFER ((CUpti_ActivityAttribute)9)

/* Functions of libcupti; looked up by name, never linked. */
#define GP_CUPTI_FUNCTIONS(X)                                                                      \
	X(cuptiGetVersion)                                                                         \
	X(cuptiSubscribe)                                                                          \
	X(cuptiUnsubscribe)                                                                        \
	X(cuptiEnableCallback)                                                                     \
	X(cuptiEnableDomain)                                                                       \
	X(cuptiActivityEnable)                                                                     \
	X(cuptiActivityDisable)                                                                    \
	X(cuptiActivityRegisterCallbacks)                                                          \
	X(cuptiActivityFlushAll)                                                                   \
	X(cuptiActivityGetNextRecord)                                                              \
	X(cuptiActivityGetNumDroppedRecords)                                                       \
	X(cuptiActivitySetAttribute)                                                               \
	X(cuptiGetTimestamp)                                                                       \
	X(cuptiGetDeviceId)                                                                        \
	X(cuptiGetContextId)                                                                       \
	X(cuptiGetResultString)                                                                    \
	X(cuptiSetThreadIdType)

/* Those that not every version has, and recording can do without: NULL where they are missing. */
#define GP_CUPTI_EXTRA_FUNCTIONS(X)                                                                \
	X(cuptiActivityConfigureUnifiedMemoryCounter)                                              \
	X(cuptiActivityEnableAllSyncRecords)                                                       \
	X(cuptiGetGraphId)                                                                         \
	X(cuptiGetGraphNodeId)                                                                     \
	X(cuptiGetStreamIdEx)

#if CUPTI_API_VERSION < 26
CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t enable); /* headers before 12.8 lack it */
#endif

struct gp_cupti {
	uint32_t version; /* cuptiGetVersion() */
	char path[512];   /* of the loaded file */
#define X(name) __typeof__(&name) name;
	GP_CUPTI_FUNCTIONS(X)
	GP_CUPTI_EXTRA_FUNCTIONS(X)
#undef X
};

/* Functions of libcuda, for what CUPTI does not tell. */
struct gp_driver {
	CUresult (*cuDriverGetVersion)(int *);
	CUresult (*cuCtxPushCurrent)(CUcontext);
	CUresult (*cuCtxPopCurrent)(CUcontext *);
	CUresult (*cuMemGetInfo)(size_t *, size_t *);
	CUresult (*cuStreamGetCtx)(CUstream, CUcontext *);
};

/*
 * Look the driver's functions up in the libcuda that the program has loaded.  A missing one is
 * NULL. Returns the driver's CUDA version (13000 = 13.0), 0 if it cannot be told.
 */
uint32_t gp_driver_open(struct gp_driver *driver);

/*
 * Load libcupti: the file that override names if it is not empty; else the copy that is already
 * mapped; else the one beside the program's libcudart; else the newest installed one that is not of
 * a later major version than the driver. To be called inside cuInit (the driver is mapped). Returns
 * 0, or -errno with one line in message: -ENOENT none found, -ENOEXEC found but not usable, -EPERM
 * only one that is too old.
 */
int gp_cupti_open(struct gp_cupti *cupti, const char *override, uint32_t driver_version,
		  char *message, size_t message_bytes);

#endif
