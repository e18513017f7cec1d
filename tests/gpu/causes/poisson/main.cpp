// Solves the Poisson equation by conjugate gradients, for one right-hand side after another.
#include "check.cuh"
#include "reduce.cuh"
#include "smoother.cuh"
#include "stencil.cuh"
#include <chrono>
#include <cmath>
#include <vector>

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 4;
  Grid grid{1536, 1536};
  size_t bytes = grid.size() * sizeof(double);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));

  double *x, *r, *z, *p, *q;
  for (double **vector : {&x, &r, &z, &p, &q}) CHECK(cudaMalloc(vector, bytes));
  std::vector<double> rhs(grid.size());
  for (int row = 0; row < grid.height; row++)
    for (int column = 0; column < grid.width; column++)
      rhs[(size_t)row * grid.width + column] = sin(0.01 * row) * cos(0.013 * column) + (row == column);

  Dot dot(stream);
  Smoother smoother(grid, 4, stream);
  double start = now(), half = 0, residual = 0;
  long steps = 0, half_steps = 0, solves = 0;
  while (now() - start < seconds) {
    CHECK(cudaMemcpyAsync(r, rhs.data(), bytes, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemsetAsync(x, 0, bytes, stream));
    smoother.apply(r, z);
    CHECK(cudaMemcpyAsync(p, z, bytes, cudaMemcpyDeviceToDevice, stream));
    double rz = dot(grid.size(), r, z), first = rz;
    while (rz > 1e-14 * first && now() - start < seconds) {
      apply_laplacian(grid, p, q, stream);
      double alpha = rz / dot(grid.size(), p, q);
      combine(grid, alpha, p, 1, x, stream);
      combine(grid, -alpha, q, 1, r, stream);
      smoother.apply(r, z);
      double next = dot(grid.size(), r, z);
      combine(grid, 1, z, next / rz, p, stream);
      residual = rz = next;
      steps++;
      if (!half && now() - start > seconds / 2) {
        CHECK(cudaDeviceSynchronize());
        half = now();
        half_steps = steps;
      }
    }
    solves++;
  }
  CHECK(cudaDeviceSynchronize());
  double took = now() - half;
  printf("%ld right-hand sides, residual %.3g\n", solves, residual);
  printf("steady step %.3f ms over %ld of %ld steps\n", 1e3 * took / (steps - half_steps), steps - half_steps, steps);
}
