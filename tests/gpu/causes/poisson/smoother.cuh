#pragma once
#include "stencil.cuh"

// Preconditioner: a few damped Jacobi sweeps on A z = r.
class Smoother {
 public:
  Smoother(Grid grid, int sweeps, cudaStream_t stream);
  ~Smoother();
  void apply(const double *r, double *z);

 private:
  double *scratch() const;
  void release(double *buffer) const;
  Grid grid_;
  int sweeps_;
  cudaStream_t stream_;
  double *kept_ = nullptr;
};
