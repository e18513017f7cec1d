/*
 * cupti_library: finds and loads the right libcupti.
 *
 * All knowledge about its location is here; differences between its versions are in
 * inject/cupti_versions.h.
 */
#ifndef INJECT_CUPTI_LIBRARY_H
#define INJECT_CUPTI_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

#include "inject/cupti_versions.h"

struct gp_cupti {
	uint32_t version; /* cuptiGetVersion() */
	char path[512];   /* of the loaded file */
#define X(name) __typeof__(&name) name;
	GP_CUPTI_FUNCTIONS(X)
	GP_CUPTI_EXTRA_FUNCTIONS(X)
#undef X
};

/* Functions of libcuda, for data that CUPTI does not provide. */
struct gp_driver {
	CUresult (*cuDriverGetVersion)(int *);
	CUresult (*cuCtxPushCurrent)(CUcontext);
	CUresult (*cuCtxPopCurrent)(CUcontext *);
	CUresult (*cuMemGetInfo)(size_t *, size_t *);
	CUresult (*cuStreamGetCtx)(CUstream, CUcontext *);
	CUresult (*cuDeviceGetUuid)(CUuuid *, CUdevice);
	CUresult (*cuDeviceGetCount)(int *);
	CUresult (*cuDeviceGetName)(char *, int, CUdevice);
	CUresult (*cuDeviceTotalMem)(size_t *, CUdevice);
	CUresult (*cuDeviceGetAttribute)(int *, CUdevice_attribute, CUdevice);
	CUresult (*cuDevicePrimaryCtxGetState)(CUdevice, unsigned *, int *);
	CUresult (*cuDevicePrimaryCtxRetain)(CUcontext *, CUdevice);
	CUresult (*cuDevicePrimaryCtxRelease)(CUdevice);
	CUresult (*cuCtxGetCurrent)(CUcontext *);
};

/*
 * Find the driver's functions in the libcuda that the program has loaded.  A missing one is NULL.
 * Returns the driver's CUDA version (13000 = 13.0), 0 if unknown.
 */
uint32_t gp_driver_open(struct gp_driver *driver);

/*
 * Load libcupti: the file that `override` names if it is not empty; else the copy that is already
 * mapped; else the one beside the program's libcudart; else the newest installed one whose major
 * version is not later than the driver's.  To be called inside cuInit, when the driver is mapped.
 * Returns 0, or -errno with one line in message: -ENOENT none found, -ENOEXEC found but unusable,
 * -EPERM only one that is too old.
 */
int gp_cupti_open(struct gp_cupti *cupti, const char *override, uint32_t driver_version,
		  char *message, size_t message_bytes);

#endif
