/* libcudart: copies and memsets. */
#include "tests/sim/runtime.h"

#include <cuda.h>

static cudaError_t copy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
	CUdeviceptr to = sim_rt_pointer(dst), from = sim_rt_pointer(src);

	switch (kind) {
	case cudaMemcpyHostToDevice:
		return sim_rt_result(cuMemcpyHtoD(to, src, count));
	case cudaMemcpyDeviceToHost:
		return sim_rt_result(cuMemcpyDtoH(dst, from, count));
	case cudaMemcpyDeviceToDevice:
		return sim_rt_result(cuMemcpyDtoD(to, from, count));
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		return sim_rt_result(cuMemcpy(to, from, count));
	default:
		return cudaErrorInvalidMemcpyDirection;
	}
}

static cudaError_t copy_async(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
			      cudaStream_t stream)
{
	CUdeviceptr to = sim_rt_pointer(dst), from = sim_rt_pointer(src);

	switch (kind) {
	case cudaMemcpyHostToDevice:
		return sim_rt_result(cuMemcpyHtoDAsync(to, src, count, stream));
	case cudaMemcpyDeviceToHost:
		return sim_rt_result(cuMemcpyDtoHAsync(dst, from, count, stream));
	case cudaMemcpyDeviceToDevice:
		return sim_rt_result(cuMemcpyDtoDAsync(to, from, count, stream));
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		return sim_rt_result(cuMemcpyAsync(to, from, count, stream));
	default:
		return cudaErrorInvalidMemcpyDirection;
	}
}

cudaError_t sim_cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
	return copy(dst, src, count, kind);
}

cudaError_t sim_cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
				cudaStream_t stream)
{
	return copy_async(dst, src, count, kind, stream);
}

/* The driver's function has the same argument layout. */
cudaError_t sim_cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs,
				     const size_t *sizes, size_t count,
				     struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs,
				     size_t numAttrs, cudaStream_t stream)
{
	return sim_rt_result(
		cuMemcpyBatchAsync((CUdeviceptr *)(uintptr_t)dsts, (CUdeviceptr *)(uintptr_t)srcs,
				   (size_t *)(uintptr_t)sizes, count, (CUmemcpyAttributes *)attrs,
				   attrsIdxs, numAttrs, stream));
}

static cudaError_t context_of(int device, CUcontext *ctx)
{
	struct sim_device *d = sim_device(device);

	if (!d)
		return cudaErrorInvalidDevice;
	*ctx = d->primary;
	return cudaSuccess;
}

cudaError_t sim_cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice,
			       size_t count)
{
	CUcontext to, from;

	if (context_of(dstDevice, &to) || context_of(srcDevice, &from))
		return cudaErrorInvalidDevice;
	return sim_rt_result(
		cuMemcpyPeer(sim_rt_pointer(dst), to, sim_rt_pointer(src), from, count));
}

cudaError_t sim_cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice,
				    size_t count, cudaStream_t stream)
{
	CUcontext to, from;

	if (context_of(dstDevice, &to) || context_of(srcDevice, &from))
		return cudaErrorInvalidDevice;
	return sim_rt_result(cuMemcpyPeerAsync(sim_rt_pointer(dst), to, sim_rt_pointer(src), from,
					       count, stream));
}

static bool from_host(enum cudaMemcpyKind kind)
{
	return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
}

static bool to_host(enum cudaMemcpyKind kind)
{
	return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
}

static CUDA_MEMCPY2D describe(void *dst, size_t dpitch, const void *src, size_t spitch,
			      size_t width, size_t height, enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY2D c = {
		.srcPitch = spitch, .dstPitch = dpitch, .WidthInBytes = width, .Height = height};

	c.srcMemoryType = from_host(kind)             ? CU_MEMORYTYPE_HOST
			  : kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED
						      : CU_MEMORYTYPE_DEVICE;
	c.dstMemoryType = to_host(kind)               ? CU_MEMORYTYPE_HOST
			  : kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED
						      : CU_MEMORYTYPE_DEVICE;
	c.srcHost = src;
	c.srcDevice = sim_rt_pointer(src);
	c.dstHost = dst;
	c.dstDevice = sim_rt_pointer(dst);
	return c;
}

cudaError_t sim_cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
			     size_t height, enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY2D c = describe(dst, dpitch, src, spitch, width, height, kind);

	if (width > dpitch || width > spitch)
		return cudaErrorInvalidPitchValue;
	return sim_rt_result(cuMemcpy2DUnaligned(&c));
}

cudaError_t sim_cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
				  size_t width, size_t height, enum cudaMemcpyKind kind,
				  cudaStream_t stream)
{
	CUDA_MEMCPY2D c = describe(dst, dpitch, src, spitch, width, height, kind);

	if (width > dpitch || width > spitch)
		return cudaErrorInvalidPitchValue;
	return sim_rt_result(cuMemcpy2DAsync(&c, stream));
}

cudaError_t sim_cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset,
				    const void *src, size_t spitch, size_t width, size_t height,
				    enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY2D c = describe(NULL, 0, src, spitch, width, height, kind);

	c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
	c.dstArray = (CUarray)dst;
	c.dstXInBytes = wOffset;
	c.dstY = hOffset;
	return sim_rt_result(cuMemcpy2DUnaligned(&c));
}

cudaError_t sim_cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src,
				      size_t wOffset, size_t hOffset, size_t width, size_t height,
				      enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY2D c = describe(dst, dpitch, NULL, 0, width, height, kind);

	c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
	c.srcArray = (CUarray)(uintptr_t)src;
	c.srcXInBytes = wOffset;
	c.srcY = hOffset;
	return sim_rt_result(cuMemcpy2DUnaligned(&c));
}

static CUDA_MEMCPY3D describe_3d(const struct cudaMemcpy3DParms *p)
{
	CUDA_MEMCPY3D c = {.WidthInBytes = p->extent.width,
			   .Height = p->extent.height,
			   .Depth = p->extent.depth,
			   .srcXInBytes = p->srcPos.x,
			   .srcY = p->srcPos.y,
			   .srcZ = p->srcPos.z,
			   .dstXInBytes = p->dstPos.x,
			   .dstY = p->dstPos.y,
			   .dstZ = p->dstPos.z};

	c.srcMemoryType = p->srcArray ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
	c.srcArray = (CUarray)p->srcArray;
	c.srcDevice = sim_rt_pointer(p->srcPtr.ptr);
	c.srcPitch = p->srcPtr.pitch;
	c.srcHeight = p->srcPtr.ysize;
	c.dstMemoryType = p->dstArray ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
	c.dstArray = (CUarray)p->dstArray;
	c.dstDevice = sim_rt_pointer(p->dstPtr.ptr);
	c.dstPitch = p->dstPtr.pitch;
	c.dstHeight = p->dstPtr.ysize;
	return c;
}

cudaError_t sim_cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
	CUDA_MEMCPY3D c = describe_3d(p);

	return sim_rt_result(cuMemcpy3D(&c));
}

cudaError_t sim_cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
	CUDA_MEMCPY3D c = describe_3d(p);

	return sim_rt_result(cuMemcpy3DAsync(&c, stream));
}

static cudaError_t symbol_range(const void *symbol, size_t offset, size_t count, void **address)
{
	CUdeviceptr p;
	size_t bytes;

	if (!sim_rt_symbol(symbol, &p, &bytes))
		return cudaErrorInvalidSymbol;
	if (offset > bytes || count > bytes - offset)
		return cudaErrorInvalidValue;
	*address = (void *)(uintptr_t)(p + offset);
	return cudaSuccess;
}

cudaError_t sim_cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
				   enum cudaMemcpyKind kind)
{
	void *at;
	cudaError_t r = symbol_range(symbol, offset, count, &at);

	return r ? r : copy(at, src, count, kind);
}

cudaError_t sim_cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
				     enum cudaMemcpyKind kind)
{
	void *at;
	cudaError_t r = symbol_range(symbol, offset, count, &at);

	return r ? r : copy(dst, at, count, kind);
}

cudaError_t sim_cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count,
					size_t offset, enum cudaMemcpyKind kind,
					cudaStream_t stream)
{
	void *at;
	cudaError_t r = symbol_range(symbol, offset, count, &at);

	return r ? r : copy_async(at, src, count, kind, stream);
}

cudaError_t sim_cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count,
					  size_t offset, enum cudaMemcpyKind kind,
					  cudaStream_t stream)
{
	void *at;
	cudaError_t r = symbol_range(symbol, offset, count, &at);

	return r ? r : copy_async(dst, at, count, kind, stream);
}

cudaError_t sim_cudaGetSymbolAddress(void **devPtr, const void *symbol)
{
	return symbol_range(symbol, 0, 0, devPtr);
}

cudaError_t sim_cudaGetSymbolSize(size_t *size, const void *symbol)
{
	CUdeviceptr p;

	return sim_rt_symbol(symbol, &p, size) ? cudaSuccess : cudaErrorInvalidSymbol;
}

cudaError_t sim_cudaMemset(void *devPtr, int value, size_t count)
{
	return sim_rt_result(cuMemsetD8(sim_rt_pointer(devPtr), (unsigned char)value, count));
}

cudaError_t sim_cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)
{
	return sim_rt_result(
		cuMemsetD8Async(sim_rt_pointer(devPtr), (unsigned char)value, count, stream));
}

cudaError_t sim_cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height)
{
	return sim_rt_result(
		cuMemsetD2D8(sim_rt_pointer(devPtr), pitch, (unsigned char)value, width, height));
}

cudaError_t sim_cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width,
				  size_t height, cudaStream_t stream)
{
	return sim_rt_result(cuMemsetD2D8Async(sim_rt_pointer(devPtr), pitch, (unsigned char)value,
					       width, height, stream));
}

cudaError_t sim_cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent extent)
{
	return sim_cudaMemset2D(p.ptr, p.pitch, value, extent.width, extent.height * extent.depth);
}
