// SPDX-License-Identifier: MIT
// The CPU's versions: the truth in double, and what a CPU does with all its cores in fp32.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "common/parallel.h"
#include "day36_dyt/dyt.h"

namespace day36 {
namespace {

constexpr size_t kElementsAThread = size_t{1} << 16;

// body(begin, end) on several threads where there is work for them.
template <class Body>
void parallel_rows(int rows, int cols, const Body& body) {
  days::parallel_ranges(
      static_cast<size_t>(rows), [&](size_t, size_t begin, size_t end) { body(begin, end); },
      std::max<size_t>(1, kElementsAThread / static_cast<size_t>(cols)));
}

// 1 - tanh(v)^2 = 1 / cosh(v)^2, which has its digits where tanh is near 1.
double bend(double v) {
  const double small = std::exp(-2 * std::abs(v));
  return 4 * small / ((1 + small) * (1 + small));
}

}  // namespace

template <class T>
void dyt_reference(const Dyt<T>& p) {
  const double alpha = static_cast<double>(*p.alpha);
  for (int64_t row = 0; row < p.rows; ++row) {
    for (int col = 0; col < p.cols; ++col) {
      const int64_t i = row * p.cols + col;
      p.y[i] =
          days::from_double<T>(days::to_double(p.gamma[col]) * std::tanh(alpha * days::to_double(p.x[i])) +
                               days::to_double(p.beta[col]));
    }
  }
}

template <class T>
void dyt_parallel(const Dyt<T>& p) {
  parallel_rows(p.rows, p.cols, [&](size_t begin, size_t end) {
    const size_t cols = static_cast<size_t>(p.cols);
    for (size_t row = begin; row < end; ++row) {
      for (size_t col = 0; col < cols; ++col) {
        const size_t i = row * cols + col;
        p.y[i] =
            days::from_float<T>(days::to_float(p.gamma[col]) * std::tanh(*p.alpha * days::to_float(p.x[i])) +
                                days::to_float(p.beta[col]));
      }
    }
  });
}

template <class T>
void dyt_backward_reference(const DytBackward<T>& p) {
  const double alpha = static_cast<double>(*p.alpha);
  std::vector<double> dgamma(static_cast<size_t>(p.cols)), dbeta(static_cast<size_t>(p.cols));
  double dalpha = 0;
  for (int64_t row = 0; row < p.rows; ++row) {
    for (int col = 0; col < p.cols; ++col) {
      const int64_t i = row * p.cols + col;
      const double x = days::to_double(p.x[i]), dy = days::to_double(p.dy[i]);
      const double bent = dy * days::to_double(p.gamma[col]) * bend(alpha * x);
      p.dx[i] = days::from_double<T>(bent * alpha);
      dgamma[static_cast<size_t>(col)] += dy * std::tanh(alpha * x);
      dbeta[static_cast<size_t>(col)] += dy;
      dalpha += bent * x;
    }
  }
  for (size_t col = 0; col < dgamma.size(); ++col) {
    p.dgamma[col] = days::from_double<T>(dgamma[col]);
    p.dbeta[col] = days::from_double<T>(dbeta[col]);
  }
  *p.dalpha = static_cast<float>(dalpha);
}

// Each thread of the CPU has some of the rows, and its own sums over them.
template <class T>
void dyt_backward_parallel(const DytBackward<T>& p) {
  const size_t cols = static_cast<size_t>(p.cols);
  std::vector<float> dgamma(cols), dbeta(cols);
  float dalpha = 0;
  std::mutex all;
  parallel_rows(p.rows, p.cols, [&](size_t begin, size_t end) {
    std::vector<float> my_dgamma(cols), my_dbeta(cols);
    float my_dalpha = 0;
    for (size_t row = begin; row < end; ++row) {
      float of_row = 0;
      for (size_t col = 0; col < cols; ++col) {
        const size_t i = row * cols + col;
        const float x = days::to_float(p.x[i]), dy = days::to_float(p.dy[i]), t = std::tanh(*p.alpha * x);
        const float bent = dy * days::to_float(p.gamma[col]) * (1 - t * t);
        p.dx[i] = days::from_float<T>(bent * *p.alpha);
        my_dgamma[col] += dy * t;
        my_dbeta[col] += dy;
        of_row += bent * x;
      }
      my_dalpha += of_row;
    }
    const std::lock_guard lock(all);
    for (size_t col = 0; col < cols; ++col) {
      dgamma[col] += my_dgamma[col];
      dbeta[col] += my_dbeta[col];
    }
    dalpha += my_dalpha;
  });
  for (size_t col = 0; col < cols; ++col) {
    p.dgamma[col] = days::from_float<T>(dgamma[col]);
    p.dbeta[col] = days::from_float<T>(dbeta[col]);
  }
  *p.dalpha = dalpha;
}

INSTANTIATE_REFERENCE(dyt_reference, Dyt, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(dyt_parallel, Dyt, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(dyt_backward_reference, DytBackward, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(dyt_backward_parallel, DytBackward, float, days::half, days::bf16);

}  // namespace day36
