/*
 * array_bytes: how much memory a CUDA array takes, by its format and extents.  Padding of the driver's is not in it.  One whose
 * memory the program maps, whole or in parts, takes none itself.
 */
#ifndef INJECT_ARRAY_BYTES_H
#define INJECT_ARRAY_BYTES_H

#include <stdint.h>

#include <cuda.h>
#include <driver_types.h>

/* Extents in texels, 0 = the array has not that dimension; levels of a mipmapped array, else 1. */
struct gp_array_extent {
	size_t width, height, depth;
	uint32_t levels;
	uint32_t flags; /* CUDA_ARRAY3D_*, cudaArray*: the numbers are the same */
};

uint64_t gp_array_bytes_runtime(const struct cudaChannelFormatDesc *format,
				const struct gp_array_extent *extent);
uint64_t gp_array_bytes_driver(CUarray_format format, uint32_t channels,
			       const struct gp_array_extent *extent);

#endif
