#include "tests/sim/errors.h"

#include <stddef.h>

static const struct sim_error errors[] = {
	{0, "CUDA_SUCCESS", "cudaSuccess", "no error"},
	{1, "CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidValue", "invalid argument"},
	{2, "CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation", "out of memory"},
	{3, "CUDA_ERROR_NOT_INITIALIZED", "cudaErrorInitializationError", "initialization error"},
	{4, "CUDA_ERROR_DEINITIALIZED", "cudaErrorCudartUnloading", "driver shutting down"},
	{9, "CUDA_ERROR_INVALID_CONFIGURATION", "cudaErrorInvalidConfiguration",
	 "invalid configuration argument"},
	{13, "CUDA_ERROR_INVALID_SYMBOL", "cudaErrorInvalidSymbol", "invalid device symbol"},
	{35, "CUDA_ERROR_INSUFFICIENT_DRIVER", "cudaErrorInsufficientDriver",
	 "CUDA driver version is insufficient for CUDA runtime version"},
	{98, "CUDA_ERROR_INVALID_DEVICE_FUNCTION", "cudaErrorInvalidDeviceFunction",
	 "invalid device function"},
	{100, "CUDA_ERROR_NO_DEVICE", "cudaErrorNoDevice", "no CUDA-capable device is detected"},
	{101, "CUDA_ERROR_INVALID_DEVICE", "cudaErrorInvalidDevice", "invalid device ordinal"},
	{200, "CUDA_ERROR_INVALID_IMAGE", "cudaErrorInvalidKernelImage",
	 "device kernel image is invalid"},
	{201, "CUDA_ERROR_INVALID_CONTEXT", "cudaErrorDeviceUninitialized",
	 "invalid device context"},
	{205, "CUDA_ERROR_MAP_FAILED", "cudaErrorMapBufferObjectFailed",
	 "mapping of buffer object failed"},
	{217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "cudaErrorPeerAccessUnsupported",
	 "peer access is not supported between these two devices"},
	{400, "CUDA_ERROR_INVALID_HANDLE", "cudaErrorInvalidResourceHandle",
	 "invalid resource handle"},
	{401, "CUDA_ERROR_ILLEGAL_STATE", "cudaErrorIllegalState",
	 "the operation cannot be performed in the present state"},
	{500, "CUDA_ERROR_NOT_FOUND", "cudaErrorSymbolNotFound", "named symbol not found"},
	{600, "CUDA_ERROR_NOT_READY", "cudaErrorNotReady", "device not ready"},
	{704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "cudaErrorPeerAccessAlreadyEnabled",
	 "peer access is already enabled"},
	{705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "cudaErrorPeerAccessNotEnabled",
	 "peer access has not been enabled"},
	{712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "cudaErrorHostMemoryAlreadyRegistered",
	 "part or all of the requested memory range is already mapped"},
	{713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "cudaErrorHostMemoryNotRegistered",
	 "pointer does not correspond to a registered memory region"},
	{801, "CUDA_ERROR_NOT_SUPPORTED", "cudaErrorNotSupported", "operation not supported"},
	{900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "cudaErrorStreamCaptureUnsupported",
	 "operation not permitted when stream is capturing"},
	{901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "cudaErrorStreamCaptureInvalidated",
	 "operation failed due to a previous error during capture"},
	{903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "cudaErrorStreamCaptureUnmatched",
	 "capture was not ended in the same stream as it began"},
	{999, "CUDA_ERROR_UNKNOWN", "cudaErrorUnknown", "unknown error"},
};

const struct sim_error *sim_error(int code)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].code == code)
			return &errors[i];
	return NULL;
}
