#include "check.cuh"
#include "reduce.cuh"

__global__ void dot_kernel(size_t size, const double *x, const double *y, double *sum) {
  double mine = 0;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < size; i += (size_t)gridDim.x * blockDim.x)
    mine += x[i] * y[i];
  for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_down_sync(~0u, mine, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

Dot::Dot(cudaStream_t stream) : stream_(stream) {
  CHECK(cudaMalloc(&sum_, sizeof(double)));
  CHECK(cudaMallocHost(&host_, sizeof(double)));
}

Dot::~Dot() {
  cudaFree(sum_);
  cudaFreeHost(host_);
}

double Dot::operator()(size_t size, const double *x, const double *y) {
  CHECK(cudaMemsetAsync(sum_, 0, sizeof(double), stream_));
  dot_kernel<<<1056, 256, 0, stream_>>>(size, x, y, sum_);
  CHECK(cudaMemcpyAsync(host_, sum_, sizeof(double), cudaMemcpyDeviceToHost, stream_));
  CHECK(cudaStreamSynchronize(stream_));
  return *host_;
}
