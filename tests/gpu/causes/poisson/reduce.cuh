#pragma once

// Dot products; the result comes back to the host.
class Dot {
 public:
  explicit Dot(cudaStream_t stream);
  ~Dot();
  double operator()(size_t size, const double *x, const double *y);

 private:
  cudaStream_t stream_;
  double *sum_, *host_;
};
