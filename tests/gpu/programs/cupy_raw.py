"""CuPy: a kernel compiled at run time, and copies of known size."""
import cupy
import numpy

LAUNCHES = 250

kernel = cupy.RawKernel(
    'extern "C" __global__ void gpuprof_add(float *x) { x[threadIdx.x] += 1; }', "gpuprof_add")
x = cupy.zeros(64, dtype=cupy.float32)
for _ in range(LAUNCHES):
    kernel((1,), (64,), (x,))
host = numpy.ones(4096, dtype=numpy.uint8)
for _ in range(5):
    device = cupy.asarray(host)
cupy.cuda.runtime.deviceSynchronize()
print("kernel.gpuprof_add", LAUNCHES)
print("copy.htod.bytes.4096", 5)
print("value", float(x[0]))
