// SPDX-License-Identifier: MIT
// The CPU's versions: the truth in double, and what a CPU does with all its cores in fp32.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "common/compare.h"
#include "common/parallel.h"
#include "day12_layer_norm/layer_norm.h"

namespace day12 {
namespace {

constexpr size_t kElementsAThread = size_t{1} << 16;

// An infinity leaves no mean either: mean and rstd of such a row are both NaN.
template <class Number>
void keep(float& mean_of_row, float& rstd_of_row, Number mean, Number variance, float eps) {
  mean_of_row = static_cast<float>(std::isnan(variance) ? variance : mean);
  rstd_of_row = static_cast<float>(1 / std::sqrt(variance + static_cast<Number>(eps)));
}

// The largest error(row), without those that are no number.
template <class Error>
double largest_of_rows(int rows, int cols, const Error& error) {
  std::vector<double> of_row(static_cast<size_t>(rows));
  days::parallel_rows(rows, cols, [&](int64_t row) { of_row[static_cast<size_t>(row)] = error(row); });
  double most = 0;
  for (const double value : of_row) most = value > most && std::isfinite(value) ? value : most;
  return most;
}

// The same for sums over the rows: the error of adding up term(row, col), the largest of all columns.
template <class Term>
double largest_of_columns(int rows, int cols, const Term& term) {
  double most = 0;
  std::mutex mutex;
  days::parallel_ranges(
      static_cast<size_t>(cols),
      [&](size_t, size_t begin, size_t end) {
        std::vector<double> sum(end - begin), squares(end - begin);
        for (int64_t row = 0; row < rows; ++row) {
          for (size_t col = begin; col < end; ++col) {
            const double value = term(row, static_cast<int64_t>(col));
            if (!std::isfinite(value)) continue;
            sum[col - begin] += value;
            squares[col - begin] += value * value;
          }
        }
        const std::lock_guard lock(mutex);
        for (size_t i = 0; i < sum.size(); ++i)
          most = std::max(most, days::epsilons_of_sum(rows, sum[i], squares[i]));
      },
      std::max<size_t>(1, kElementsAThread / static_cast<size_t>(rows)));
  return most;
}

}  // namespace

template <class T>
void layer_norm_reference(const LayerNorm<T>& p) {
  for (int64_t row = 0; row < p.rows; ++row) {
    const T* x = p.x + row * p.cols;
    T* y = p.y + row * p.cols;
    double mean = 0, variance = 0;
    for (int col = 0; col < p.cols; ++col) mean += days::to_double(x[col]);
    mean /= p.cols;
    for (int col = 0; col < p.cols; ++col)
      variance += (days::to_double(x[col]) - mean) * (days::to_double(x[col]) - mean);
    variance /= p.cols;
    const double rstd = 1 / std::sqrt(variance + static_cast<double>(p.eps));
    for (int col = 0; col < p.cols; ++col)
      y[col] = days::from_double<T>((days::to_double(x[col]) - mean) * rstd * days::to_double(p.gamma[col]) +
                                    days::to_double(p.beta[col]));
    keep(p.mean[row], p.rstd[row], mean, variance, p.eps);
  }
}

template <class T>
void layer_norm_parallel(const LayerNorm<T>& p) {
  days::parallel_rows(p.rows, p.cols, [&p](int64_t row) {
    const T* x = p.x + row * p.cols;
    T* y = p.y + row * p.cols;
    float mean = 0, variance = 0;
    for (int col = 0; col < p.cols; ++col) mean += days::to_float(x[col]);
    mean /= static_cast<float>(p.cols);
    for (int col = 0; col < p.cols; ++col)
      variance += (days::to_float(x[col]) - mean) * (days::to_float(x[col]) - mean);
    variance /= static_cast<float>(p.cols);
    const float rstd = 1 / std::sqrt(variance + p.eps);
    for (int col = 0; col < p.cols; ++col)
      y[col] = days::from_float<T>((days::to_float(x[col]) - mean) * rstd * days::to_float(p.gamma[col]) +
                                   days::to_float(p.beta[col]));
    keep(p.mean[row], p.rstd[row], mean, variance, p.eps);
  });
}

template <class T>
void layer_norm_backward_reference(const LayerNormBackward<T>& p) {
  std::vector<double> dgamma(static_cast<size_t>(p.cols)), dbeta(static_cast<size_t>(p.cols));
  for (int64_t row = 0; row < p.rows; ++row) {
    const T *x = p.x + row * p.cols, *dy = p.dy + row * p.cols;
    T* dx = p.dx + row * p.cols;
    const double mean = static_cast<double>(p.mean[row]), rstd = static_cast<double>(p.rstd[row]);
    const auto xhat = [&](int col) { return (days::to_double(x[col]) - mean) * rstd; };
    const auto g = [&](int col) { return days::to_double(dy[col]) * days::to_double(p.gamma[col]); };
    double average_g = 0, average_gx = 0;
    for (int col = 0; col < p.cols; ++col) {
      dgamma[static_cast<size_t>(col)] += days::to_double(dy[col]) * xhat(col);
      dbeta[static_cast<size_t>(col)] += days::to_double(dy[col]);
      average_g += g(col) / p.cols;
      average_gx += g(col) * xhat(col) / p.cols;
    }
    for (int col = 0; col < p.cols; ++col)
      dx[col] = days::from_double<T>(rstd * (g(col) - average_g - xhat(col) * average_gx));
  }
  for (size_t col = 0; col < dgamma.size(); ++col) {
    p.dgamma[col] = days::from_double<T>(dgamma[col]);
    p.dbeta[col] = days::from_double<T>(dbeta[col]);
  }
}

// Each thread of the CPU has some of the rows, and its own sums over them.
template <class T>
void layer_norm_backward_parallel(const LayerNormBackward<T>& p) {
  const size_t cols = static_cast<size_t>(p.cols);
  std::vector<float> dgamma(cols), dbeta(cols);
  std::mutex both;
  days::parallel_ranges(
      static_cast<size_t>(p.rows),
      [&](size_t, size_t begin, size_t end) {
        std::vector<float> my_dgamma(cols), my_dbeta(cols);
        for (size_t row = begin; row < end; ++row) {
          const T *x = p.x + row * cols, *dy = p.dy + row * cols;
          T* dx = p.dx + row * cols;
          const float mean = p.mean[row], rstd = p.rstd[row];
          float sum_g = 0, sum_gx = 0;
          for (size_t col = 0; col < cols; ++col) {
            const float xhat = (days::to_float(x[col]) - mean) * rstd;
            const float g = days::to_float(dy[col]) * days::to_float(p.gamma[col]);
            my_dgamma[col] += days::to_float(dy[col]) * xhat;
            my_dbeta[col] += days::to_float(dy[col]);
            sum_g += g;
            sum_gx += g * xhat;
          }
          const float average_g = sum_g / static_cast<float>(cols),
                      average_gx = sum_gx / static_cast<float>(cols);
          for (size_t col = 0; col < cols; ++col) {
            const float xhat = (days::to_float(x[col]) - mean) * rstd;
            const float g = days::to_float(dy[col]) * days::to_float(p.gamma[col]);
            dx[col] = days::from_float<T>(rstd * (g - average_g - xhat * average_gx));
          }
        }
        const std::lock_guard lock(both);
        for (size_t col = 0; col < cols; ++col) {
          dgamma[col] += my_dgamma[col];
          dbeta[col] += my_dbeta[col];
        }
      },
      std::max<size_t>(1, kElementsAThread / cols));
  for (size_t col = 0; col < cols; ++col) {
    p.dgamma[col] = days::from_float<T>(dgamma[col]);
    p.dbeta[col] = days::from_float<T>(dbeta[col]);
  }
}

// All of a row's from what has been kept of it, for x may have been y.
template <class T>
double mean_error(const LayerNorm<T>& p, int64_t row) {
  const double mean = static_cast<double>(p.mean[row]), rstd = static_cast<double>(p.rstd[row]), n = p.cols;
  const double variance = std::max(0.0, 1 / (rstd * rstd) - static_cast<double>(p.eps));
  return days::epsilons_of_sum(n, n * mean, n * (mean * mean + variance)) / n;
}
// The squares have one sign, so that their sum's error is relative, and half of it the root's. Where they are of few
// bits, as of bf16 numbers far from 0, the roundings of a thread that adds all of them lean one way: they grow with
// the columns and not with their root (naive, 8,192 columns, 9,001 rows: 494 epsilons at most). A mean that is off
// by d adds d^2 to the variance.
// Welford's mean is rounded at each step, and the step's distance is multiplied with that: for a mean of k standard
// deviations, k epsilons, with random signs.
template <class T>
double rstd_error(const LayerNorm<T>& p, int64_t row) {
  const double rstd = static_cast<double>(p.rstd[row]), shift = mean_error(p, row) * rstd;
  const double deviations = std::abs(static_cast<double>(p.mean[row])) * rstd;
  return p.cols / 8.0 + 2 * std::sqrt(p.cols) + 4 + shift * shift * days::TypeInfo<float>::kEpsilon / 2 +
         2 * deviations / std::sqrt(p.cols);
}

template <class T>
double error_of_mean(const LayerNorm<T>& p) {
  return largest_of_rows(p.rows, 1, [&p](int64_t row) { return mean_error(p, row); });
}
template <class T>
double error_of_rstd(const LayerNorm<T>& p) {
  return largest_of_rows(p.rows, 1, [&p](int64_t row) { return rstd_error(p, row); });
}
// y - beta is (x - mean) * rstd * gamma.
template <class T>
double error_of_y(const LayerNorm<T>& p) {
  double gamma = 0, beta = 0;
  for (int col = 0; col < p.cols; ++col) {
    gamma = std::max(gamma, std::abs(days::to_double(p.gamma[col])));
    beta = std::max(beta, std::abs(days::to_double(p.beta[col])));
  }
  return largest_of_rows(p.rows, p.cols, [&](int64_t row) {
    double y = 0;
    for (int col = 0; col < p.cols; ++col)
      y = std::max(y, std::abs(days::to_double(p.y[row * p.cols + col])));
    return gamma * mean_error(p, row) * static_cast<double>(p.rstd[row]) +
           (y + beta) * (rstd_error(p, row) + 3);
  });
}

template <class T>
double error_of_dx(const LayerNormBackward<T>& p) {
  return largest_of_rows(p.rows, p.cols, [&p](int64_t row) {
    const double mean = static_cast<double>(p.mean[row]), rstd = static_cast<double>(p.rstd[row]), n = p.cols;
    double most_g = 0, most_x = 0, g_sum = 0, g_squares = 0, gx_sum = 0, gx_squares = 0;
    for (int col = 0; col < p.cols; ++col) {
      const double xhat = (days::to_double(p.x[row * p.cols + col]) - mean) * rstd;
      const double g = days::to_double(p.dy[row * p.cols + col]) * days::to_double(p.gamma[col]);
      most_g = std::max(most_g, std::abs(g));
      most_x = std::max(most_x, std::abs(xhat));
      g_sum += g;
      g_squares += g * g;
      gx_sum += g * xhat;
      gx_squares += g * xhat * g * xhat;
    }
    return std::abs(rstd) *
           (3 * most_g + (std::abs(g_sum) + days::epsilons_of_sum(n, g_sum, g_squares)) / n +
            most_x * (4 * std::abs(gx_sum) + days::epsilons_of_sum(n, gx_sum, gx_squares)) / n);
  });
}
template <class T>
double error_of_dgamma(const LayerNormBackward<T>& p) {
  return largest_of_columns(p.rows, p.cols, [&p](int64_t row, int64_t col) {
    const int64_t i = row * p.cols + col;
    return days::to_double(p.dy[i]) * (days::to_double(p.x[i]) - static_cast<double>(p.mean[row])) *
           static_cast<double>(p.rstd[row]);
  });
}
template <class T>
double error_of_dbeta(const LayerNormBackward<T>& p) {
  return largest_of_columns(
      p.rows, p.cols, [&p](int64_t row, int64_t col) { return days::to_double(p.dy[row * p.cols + col]); });
}

INSTANTIATE_REFERENCE(layer_norm_reference, LayerNorm, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(layer_norm_parallel, LayerNorm, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(layer_norm_backward_reference, LayerNormBackward, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(layer_norm_backward_parallel, LayerNormBackward, float, days::half, days::bf16);
template double error_of_y(const LayerNorm<float>&);
template double error_of_y(const LayerNorm<days::half>&);
template double error_of_y(const LayerNorm<days::bf16>&);
template double error_of_mean(const LayerNorm<float>&);
template double error_of_mean(const LayerNorm<days::half>&);
template double error_of_mean(const LayerNorm<days::bf16>&);
template double error_of_rstd(const LayerNorm<float>&);
template double error_of_rstd(const LayerNorm<days::half>&);
template double error_of_rstd(const LayerNorm<days::bf16>&);
template double error_of_dx(const LayerNormBackward<float>&);
template double error_of_dx(const LayerNormBackward<days::half>&);
template double error_of_dx(const LayerNormBackward<days::bf16>&);
template double error_of_dgamma(const LayerNormBackward<float>&);
template double error_of_dgamma(const LayerNormBackward<days::half>&);
template double error_of_dgamma(const LayerNormBackward<days::bf16>&);
template double error_of_dbeta(const LayerNormBackward<float>&);
template double error_of_dbeta(const LayerNormBackward<days::half>&);
template double error_of_dbeta(const LayerNormBackward<days::bf16>&);

}  // namespace day12
