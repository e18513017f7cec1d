/*
 * array_bytes: the memory size of a CUDA array, from its format and extents, without the driver's
 * padding.
 *
 * A sparse or deferred-mapping array, whose memory the program maps, counts as 0 bytes.
 */
#ifndef INJECT_ARRAY_BYTES_H
#define INJECT_ARRAY_BYTES_H

#include <stdint.h>

#include <cuda.h>
#include <driver_types.h>

/* Extents in texels, 0 = the array lacks that dimension; `levels` of a mipmapped array, else 1. */
struct gp_array_extent {
	size_t width, height, depth;
	uint32_t levels;
	uint32_t flags; /* CUDA_ARRAY3D_* and cudaArray* flags, whose numbers are equal */
};

uint64_t gp_array_bytes_runtime(const struct cudaChannelFormatDesc *format,
				const struct gp_array_extent *extent);
uint64_t gp_array_bytes_driver(CUarray_format format, uint32_t channels,
			       const struct gp_array_extent *extent);

#endif
