/* libcuda: copies and memsets. */
#include "tests/sim/driver.h"

#include <cupti.h>

/* The source or the destination of a copy. */
struct side {
	char *at;
	size_t pitch, slice;
	enum sim_memory_kind kind;
	CUcontext ctx;
};

static void locate(struct side *side)
{
	struct sim_range range;

	side->kind = SIM_MEMORY_PAGEABLE;
	side->ctx = NULL;
	if (sim_memory_find((uintptr_t)side->at, &range)) {
		side->kind = range.kind;
		side->ctx = range.ctx;
	}
}

static bool on_device(const struct side *side)
{
	return side->kind >= SIM_MEMORY_DEVICE;
}

static uint8_t copy_kind(const struct side *to, const struct side *from)
{
	if (from->kind == SIM_MEMORY_ARRAY)
		return to->kind == SIM_MEMORY_ARRAY ? CUPTI_ACTIVITY_MEMCPY_KIND_ATOA
		       : on_device(to)              ? CUPTI_ACTIVITY_MEMCPY_KIND_ATOD
						    : CUPTI_ACTIVITY_MEMCPY_KIND_ATOH;
	if (to->kind == SIM_MEMORY_ARRAY)
		return on_device(from) ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOA
				       : CUPTI_ACTIVITY_MEMCPY_KIND_HTOA;
	if (on_device(from))
		return on_device(to) ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOD
				     : CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
	return on_device(to) ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD : CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
}

static bool between_devices(const struct side *to, const struct side *from)
{
	return on_device(to) && on_device(from) && to->ctx && from->ctx &&
	       to->ctx->device != from->ctx->device;
}

/* The driver copies up to this many bytes immediately, even from pageable memory. */
#define STAGED_BYTES 65536u

/*
 * Whether the host waits for the copy, as in the driver: synchronous copies except device to
 * device, and asynchronous copies of pageable host memory.
 */
static bool host_waits(bool async, const struct side *to, const struct side *from, size_t bytes)
{
	if (on_device(to) && on_device(from))
		return false;
	if (!async)
		return true;
	if (to->kind == SIM_MEMORY_PAGEABLE)
		return on_device(from);
	return from->kind == SIM_MEMORY_PAGEABLE && on_device(to) && bytes > STAGED_BYTES;
}

/* Copies a box of width, height and depth. */
static CUresult copy(CUstream handle, bool async, struct side *to, struct side *from, size_t width,
		     size_t height, size_t depth)
{
	struct sim_transfer t = {.to = to->at,
				 .from = from->at,
				 .width = width,
				 .height = height,
				 .depth = depth,
				 .to_pitch = to->pitch,
				 .from_pitch = from->pitch,
				 .to_slice = to->slice,
				 .from_slice = from->slice};
	struct sim_op op = {.kind = SIM_OP_COPY, .bytes = width * height * depth};
	CUresult r = sim_drv_stream(handle, &op.stream);

	if (r || !op.bytes)
		return r;
	locate(to);
	locate(from);
	op.copy.kind = copy_kind(to, from);
	op.copy.from = (uint8_t)from->kind;
	op.copy.to = (uint8_t)to->kind;
	op.copy.async = async;
	op.copy.from_ctx = from->ctx;
	op.copy.to_ctx = to->ctx;
	if (between_devices(to, from))
		op.kind = SIM_OP_PEER;
	sim_transfer_submit(&op, &t);
	if (host_waits(async, to, from, op.bytes))
		sim_wait_until_ns(op.end);
	return CUDA_SUCCESS;
}

static bool device_range(CUdeviceptr at, size_t bytes)
{
	return !bytes || sim_memory_covers(at, bytes);
}

static CUresult copy_flat(CUstream stream, bool async, CUdeviceptr to, CUdeviceptr from,
			  size_t bytes)
{
	struct side a = {.at = (char *)(uintptr_t)to}, b = {.at = (char *)(uintptr_t)from};

	if (bytes && (!to || !from))
		return CUDA_ERROR_INVALID_VALUE;
	return copy(stream, async, &a, &b, bytes, 1, 1);
}

static CUresult to_device(CUstream s, bool async, CUdeviceptr to, const void *from, size_t bytes)
{
	if (!device_range(to, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return copy_flat(s, async, to, (CUdeviceptr)(uintptr_t)from, bytes);
}

static CUresult to_host(CUstream s, bool async, void *to, CUdeviceptr from, size_t bytes)
{
	if (!device_range(from, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return copy_flat(s, async, (CUdeviceptr)(uintptr_t)to, from, bytes);
}

static CUresult inside(CUstream s, bool async, CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	if (!device_range(to, bytes) || !device_range(from, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return copy_flat(s, async, to, from, bytes);
}

CUresult sim_cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t n)
{
	return to_device(NULL, false, dst, src, n);
}

CUresult sim_cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t n, CUstream s)
{
	return to_device(s, true, dst, src, n);
}

CUresult sim_cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t n)
{
	return to_host(NULL, false, dst, src, n);
}

CUresult sim_cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t n, CUstream s)
{
	return to_host(s, true, dst, src, n);
}

CUresult sim_cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t n)
{
	return inside(NULL, false, dst, src, n);
}

CUresult sim_cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s)
{
	return inside(s, true, dst, src, n);
}

CUresult sim_cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t n)
{
	return copy_flat(NULL, false, dst, src, n);
}

CUresult sim_cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s)
{
	return copy_flat(s, true, dst, src, n);
}

CUresult sim_cuMemcpyPeer(CUdeviceptr dst, CUcontext dstContext, CUdeviceptr src,
			  CUcontext srcContext, size_t n)
{
	(void)dstContext;
	(void)srcContext;
	return inside(NULL, false, dst, src, n);
}

CUresult sim_cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dstContext, CUdeviceptr src,
			       CUcontext srcContext, size_t n, CUstream s)
{
	(void)dstContext;
	(void)srcContext;
	return inside(s, true, dst, src, n);
}

CUresult sim_cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
				   size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs,
				   size_t numAttrs, CUstream hStream)
{
	CUstream s;
	CUresult r = sim_drv_stream(hStream, &s);

	if (!r && (s->is_legacy || !count || !numAttrs || !attrs || !attrsIdxs))
		r = CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count && !r; i++)
		r = copy_flat(s, true, dsts[i], srcs[i], sizes[i]);
	return r;
}

/* Fills a side from a CUDA_MEMCPY2D or CUDA_MEMCPY3D. */
static CUresult side_of(struct side *side, CUmemorytype type, const void *host, CUdeviceptr device,
			CUarray array, size_t pitch, size_t height)
{
	switch (type) {
	case CU_MEMORYTYPE_HOST:
		side->at = (char *)(uintptr_t)host;
		break;
	case CU_MEMORYTYPE_DEVICE:
	case CU_MEMORYTYPE_UNIFIED:
		side->at = (char *)(uintptr_t)device;
		break;
	case CU_MEMORYTYPE_ARRAY:
		if (!array)
			return CUDA_ERROR_INVALID_HANDLE;
		side->at = (char *)array->range.start;
		pitch = array->width_bytes;
		height = array->height;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	side->pitch = pitch;
	side->slice = pitch * height;
	return side->at ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult copy_3d(const CUDA_MEMCPY3D *p, bool async, CUstream s)
{
	struct side to, from;
	CUresult r;

	r = side_of(&from, p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray,
		    p->srcPitch ? p->srcPitch : p->WidthInBytes,
		    p->srcHeight ? p->srcHeight : p->Height);
	if (!r)
		r = side_of(&to, p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray,
			    p->dstPitch ? p->dstPitch : p->WidthInBytes,
			    p->dstHeight ? p->dstHeight : p->Height);
	if (r)
		return r;
	from.at += p->srcZ * from.slice + p->srcY * from.pitch + p->srcXInBytes;
	to.at += p->dstZ * to.slice + p->dstY * to.pitch + p->dstXInBytes;
	return copy(s, async, &to, &from, p->WidthInBytes, p->Height, p->Depth);
}

static CUresult copy_2d(const CUDA_MEMCPY2D *p, bool async, CUstream s)
{
	CUDA_MEMCPY3D whole = {.srcXInBytes = p->srcXInBytes,
			       .srcY = p->srcY,
			       .srcMemoryType = p->srcMemoryType,
			       .srcHost = p->srcHost,
			       .srcDevice = p->srcDevice,
			       .srcArray = p->srcArray,
			       .srcPitch = p->srcPitch,
			       .dstXInBytes = p->dstXInBytes,
			       .dstY = p->dstY,
			       .dstMemoryType = p->dstMemoryType,
			       .dstHost = p->dstHost,
			       .dstDevice = p->dstDevice,
			       .dstArray = p->dstArray,
			       .dstPitch = p->dstPitch,
			       .WidthInBytes = p->WidthInBytes,
			       .Height = p->Height,
			       .Depth = 1};

	return copy_3d(&whole, async, s);
}

CUresult sim_cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy)
{
	return copy_2d(pCopy, false, NULL);
}

CUresult sim_cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy)
{
	return copy_2d(pCopy, false, NULL);
}

CUresult sim_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
	return copy_2d(pCopy, true, hStream);
}

CUresult sim_cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy)
{
	return copy_3d(pCopy, false, NULL);
}

CUresult sim_cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
	return copy_3d(pCopy, true, hStream);
}

static CUresult set(CUstream handle, bool async, CUdeviceptr at, size_t pitch, uint32_t value,
		    unsigned int value_bytes, size_t width, size_t height)
{
	struct sim_transfer t = {.to = (void *)(uintptr_t)at,
				 .width = width * value_bytes,
				 .height = height,
				 .depth = 1,
				 .to_pitch = pitch,
				 .value = value,
				 .value_bytes = value_bytes};
	struct sim_op op = {.kind = SIM_OP_SET, .bytes = t.width * height};
	CUresult r = sim_drv_stream(handle, &op.stream);

	if (r || !op.bytes)
		return r;
	if (!sim_memory_covers(at, (height - 1) * pitch + t.width))
		return CUDA_ERROR_INVALID_VALUE;
	op.set.value = value;
	op.set.memory = (uint8_t)sim_memory_kind(at);
	op.set.async = async;
	sim_transfer_submit(&op, &t);
	if (!async && op.set.memory != SIM_MEMORY_DEVICE && op.set.memory != SIM_MEMORY_ARRAY)
		sim_wait_until_ns(op.end); /* as the driver does for pinned and managed memory */
	return CUDA_SUCCESS;
}

CUresult sim_cuMemsetD8_v2(CUdeviceptr dst, unsigned char uc, size_t n)
{
	return set(NULL, false, dst, n, uc, 1, n, 1);
}

CUresult sim_cuMemsetD8Async(CUdeviceptr dst, unsigned char uc, size_t n, CUstream s)
{
	return set(s, true, dst, n, uc, 1, n, 1);
}

CUresult sim_cuMemsetD16_v2(CUdeviceptr dst, unsigned short us, size_t n)
{
	return set(NULL, false, dst, 2 * n, us, 2, n, 1);
}

CUresult sim_cuMemsetD16Async(CUdeviceptr dst, unsigned short us, size_t n, CUstream s)
{
	return set(s, true, dst, 2 * n, us, 2, n, 1);
}

CUresult sim_cuMemsetD32_v2(CUdeviceptr dst, unsigned int ui, size_t n)
{
	return set(NULL, false, dst, 4 * n, ui, 4, n, 1);
}

CUresult sim_cuMemsetD32Async(CUdeviceptr dst, unsigned int ui, size_t n, CUstream s)
{
	return set(s, true, dst, 4 * n, ui, 4, n, 1);
}

CUresult sim_cuMemsetD2D8_v2(CUdeviceptr dst, size_t pitch, unsigned char uc, size_t w, size_t h)
{
	return set(NULL, false, dst, pitch, uc, 1, w, h);
}

CUresult sim_cuMemsetD2D8Async(CUdeviceptr dst, size_t pitch, unsigned char uc, size_t w, size_t h,
			       CUstream s)
{
	return set(s, true, dst, pitch, uc, 1, w, h);
}

CUresult sim_cuMemsetD2D32_v2(CUdeviceptr dst, size_t pitch, unsigned int ui, size_t w, size_t h)
{
	return set(NULL, false, dst, pitch, ui, 4, w, h);
}

CUresult sim_cuMemsetD2D32Async(CUdeviceptr dst, size_t pitch, unsigned int ui, size_t w, size_t h,
				CUstream s)
{
	return set(s, true, dst, pitch, ui, 4, w, h);
}
