#include "check.cuh"
#include "stencil.cuh"

static const dim3 kBlock(32, 8);

static dim3 blocks(Grid grid) {
  return dim3((grid.width + kBlock.x - 1) / kBlock.x, (grid.height + kBlock.y - 1) / kBlock.y);
}

__device__ static double laplacian(Grid grid, const double *x, int column, int row) {
  size_t at = (size_t)row * grid.width + column;
  double sum = 4 * x[at];
  if (column > 0) sum -= x[at - 1];
  if (column + 1 < grid.width) sum -= x[at + 1];
  if (row > 0) sum -= x[at - grid.width];
  if (row + 1 < grid.height) sum -= x[at + grid.width];
  return sum;
}

__global__ void laplacian_kernel(Grid grid, const double *x, double *y) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < grid.width && row < grid.height) y[(size_t)row * grid.width + column] = laplacian(grid, x, column, row);
}

__global__ void jacobi_kernel(Grid grid, const double *rhs, const double *in, double *out, double weight) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= grid.width || row >= grid.height) return;
  size_t at = (size_t)row * grid.width + column;
  out[at] = in[at] + weight * 0.25 * (rhs[at] - laplacian(grid, in, column, row));
}

__global__ void combine_kernel(size_t size, double a, const double *x, double b, double *y) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < size; i += (size_t)gridDim.x * blockDim.x)
    y[i] = a * x[i] + b * y[i];
}

void apply_laplacian(Grid grid, const double *x, double *y, cudaStream_t stream) {
  laplacian_kernel<<<blocks(grid), kBlock, 0, stream>>>(grid, x, y);
}

void jacobi_sweep(Grid grid, const double *rhs, const double *in, double *out, double weight, cudaStream_t stream) {
  jacobi_kernel<<<blocks(grid), kBlock, 0, stream>>>(grid, rhs, in, out, weight);
}

void combine(Grid grid, double a, const double *x, double b, double *y, cudaStream_t stream) {
  combine_kernel<<<1056, 256, 0, stream>>>(grid.size(), a, x, b, y);
}
