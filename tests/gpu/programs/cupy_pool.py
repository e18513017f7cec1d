"""CuPy: its memory pool, the driver's stream-ordered pool, and its ranges."""
import cupy
from cupyx.profiler import time_range

BLOCKS = 12
BLOCK_BYTES = 4 << 20

kernel = cupy.RawKernel('extern "C" __global__ void gpuprof_fill(char *x) { x[threadIdx.x] = 1; }', "gpuprof_fill")
with time_range("cached", color_id=1):
    for _ in range(BLOCKS):
        x = cupy.empty(BLOCK_BYTES, dtype=cupy.uint8)
        kernel((1,), (64,), (x,))
        del x
pool = cupy.cuda.MemoryAsyncPool()
cupy.cuda.set_allocator(pool.malloc)
with time_range("stream-ordered", color_id=2):
    for _ in range(BLOCKS):
        x = cupy.empty(BLOCK_BYTES, dtype=cupy.uint8)
        kernel((1,), (64,), (x,))
        del x
cupy.cuda.runtime.deviceSynchronize()
print("kernel.gpuprof_fill", BLOCKS * 2)
print("memory.pool.allocated.bytes", BLOCKS * BLOCK_BYTES)
print("range.cached", 1)
print("range.stream-ordered", 1)
