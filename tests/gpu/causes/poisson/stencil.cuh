#pragma once

struct Grid {
  int width, height;
  size_t size() const { return (size_t)width * height; }
};

// y = A x, the five-point Laplacian with Dirichlet boundaries
void apply_laplacian(Grid grid, const double *x, double *y, cudaStream_t stream);
// out = in + weight * (rhs - A in) / 4
void jacobi_sweep(Grid grid, const double *rhs, const double *in, double *out, double weight, cudaStream_t stream);
// y = a x + b y
void combine(Grid grid, double a, const double *x, double b, double *y, cudaStream_t stream);
