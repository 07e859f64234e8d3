// SPDX-License-Identifier: MIT
// RMS norm on the CPU: the truth in double, and what a CPU does with all its cores in fp32.
#include <cmath>

#include "common/parallel.h"
#include "day12_layer_norm/rms_norm.h"

namespace day12 {

template <class T>
void rms_norm_reference(const RmsNorm<T>& p) {
  for (int64_t row = 0; row < p.rows; ++row) {
    const T* x = p.x + row * p.cols;
    T* y = p.y + row * p.cols;
    double squares = 0;
    for (int col = 0; col < p.cols; ++col) squares += days::to_double(x[col]) * days::to_double(x[col]);
    const double rstd = 1 / std::sqrt(squares / p.cols + static_cast<double>(p.eps));
    for (int col = 0; col < p.cols; ++col) {
      const T scaled = days::from_double<T>(days::to_double(x[col]) * rstd);
      y[col] = days::from_double<T>(days::to_double(scaled) * days::to_double(p.gamma[col]));
    }
    if (p.rstd != nullptr) p.rstd[row] = static_cast<float>(rstd);
  }
}

template <class T>
void rms_norm_parallel(const RmsNorm<T>& p) {
  days::parallel_rows(p.rows, p.cols, [&p](int64_t row) {
    const T* x = p.x + row * p.cols;
    T* y = p.y + row * p.cols;
    float squares = 0;
    for (int col = 0; col < p.cols; ++col) squares += days::to_float(x[col]) * days::to_float(x[col]);
    const float rstd = 1 / std::sqrt(squares / static_cast<float>(p.cols) + p.eps);
    for (int col = 0; col < p.cols; ++col) {
      const T scaled = days::from_float<T>(days::to_float(x[col]) * rstd);
      y[col] = days::from_float<T>(days::to_float(scaled) * days::to_float(p.gamma[col]));
    }
    if (p.rstd != nullptr) p.rstd[row] = rstd;
  });
}

INSTANTIATE_REFERENCE(rms_norm_reference, RmsNorm, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(rms_norm_parallel, RmsNorm, float, days::half, days::bf16);

}  // namespace day12
