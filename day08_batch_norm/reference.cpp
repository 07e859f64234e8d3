// SPDX-License-Identifier: MIT
// The CPU's versions: the truth in double, and the same on all cores. Both
// layouts are one text: a layout says where number i of a channel is.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>

#include "common/compare.h"
#include "common/parallel.h"
#include "day08_batch_norm/batch_norm.h"

namespace day08 {
namespace {

struct Planes {  // (batch, channels, space)
  template <class P>
  static int64_t at(const P& p, int64_t channel, int64_t i) {
    return (i / p.space * p.channels + channel) * p.space + i % p.space;
  }
};
struct Last {  // (batch, space, channels)
  template <class P>
  static int64_t at(const P& p, int64_t channel, int64_t i) {
    return i * p.channels + channel;
  }
};
template <class P>
int64_t numbers(const P& p) {
  return int64_t{p.batch} * p.space;
}

// body(channel) for each, on several threads where there is work for them.
template <class P, class Body>
void parallel_channels(const P& p, const Body& body) {
  days::parallel_ranges(
      static_cast<size_t>(p.channels),
      [&](size_t, size_t begin, size_t end) {
        for (size_t channel = begin; channel < end; ++channel) body(static_cast<int64_t>(channel));
      },
      std::max<size_t>(1, (size_t{1} << 16) / static_cast<size_t>(numbers(p))));
}

// A weight of 0 does not look at what it weighs.
float blend(float old, double now, float momentum) {
  if (momentum == 0) return old;
  if (momentum == 1) return static_cast<float>(now);
  const double weight = static_cast<double>(momentum);
  return static_cast<float>((1 - weight) * static_cast<double>(old) + weight * now);
}

template <class Layout, class T>
void channel_of(const BatchNorm<T>& p, int64_t channel) {
  const int64_t n = numbers(p);
  const auto x = [&](int64_t i) { return days::to_double(p.x[Layout::at(p, channel, i)]); };
  double mean = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) mean += x(i);
  mean /= static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) squares += (x(i) - mean) * (x(i) - mean);
  if (std::isnan(squares)) mean = squares;  // an infinity leaves no mean either
  const double rstd = 1 / std::sqrt(squares / static_cast<double>(n) + static_cast<double>(p.eps));
  const double gamma = static_cast<double>(p.gamma[channel]), beta = static_cast<double>(p.beta[channel]);
  for (int64_t i = 0; i < n; ++i)
    p.y[Layout::at(p, channel, i)] = days::from_double<T>((x(i) - mean) * rstd * gamma + beta);
  p.mean[channel] = static_cast<float>(mean);
  p.rstd[channel] = static_cast<float>(rstd);
  p.running_mean[channel] = blend(p.running_mean[channel], mean, p.momentum);
  p.running_var[channel] = blend(p.running_var[channel], squares / static_cast<double>(n - 1), p.momentum);
}

template <class T>
void gradient_of(const BatchNormBackward<T>& p, int64_t channel) {
  const int64_t n = numbers(p);
  const double mean = static_cast<double>(p.mean[channel]), rstd = static_cast<double>(p.rstd[channel]);
  const auto at = [&](int64_t i) { return Planes::at(p, channel, i); };
  const auto xhat = [&](int64_t i) { return (days::to_double(p.x[at(i)]) - mean) * rstd; };
  double dbeta = 0, dgamma = 0;
  for (int64_t i = 0; i < n; ++i) {
    dbeta += days::to_double(p.dy[at(i)]);
    dgamma += days::to_double(p.dy[at(i)]) * xhat(i);
  }
  const double scale = static_cast<double>(p.gamma[channel]) * rstd, count = static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i)
    p.dx[at(i)] = days::from_double<T>(
        scale * (days::to_double(p.dy[at(i)]) - dbeta / count - xhat(i) * (dgamma / count)));
  p.dgamma[channel] = static_cast<float>(dgamma);
  p.dbeta[channel] = static_cast<float>(dbeta);
}

// The largest error(channel), without those that are no number.
template <class P, class Error>
double largest(const P& p, const Error& error) {
  double most = 0;
  std::mutex mutex;
  parallel_channels(p, [&](int64_t channel) {
    const double value = error(channel);
    const std::lock_guard lock(mutex);
    if (value > most && std::isfinite(value)) most = value;
  });
  return most;
}

}  // namespace

template <class T>
void batch_norm_reference(const BatchNorm<T>& p) {
  for (int channel = 0; channel < p.channels; ++channel) channel_of<Planes>(p, channel);
}
template <class T>
void batch_norm_parallel(const BatchNorm<T>& p) {
  parallel_channels(p, [&p](int64_t channel) { channel_of<Planes>(p, channel); });
}
template <class T>
void batch_norm_last_reference(const BatchNorm<T>& p) {
  for (int channel = 0; channel < p.channels; ++channel) channel_of<Last>(p, channel);
}
template <class T>
void batch_norm_last_parallel(const BatchNorm<T>& p) {
  parallel_channels(p, [&p](int64_t channel) { channel_of<Last>(p, channel); });
}
template <class T>
void batch_norm_backward_reference(const BatchNormBackward<T>& p) {
  for (int channel = 0; channel < p.channels; ++channel) gradient_of(p, channel);
}
template <class T>
void batch_norm_backward_parallel(const BatchNormBackward<T>& p) {
  parallel_channels(p, [&p](int64_t channel) { gradient_of(p, channel); });
}

// All of a channel's from what has been kept of it, for x may have been y.
template <class T>
double mean_error(const BatchNorm<T>& p, int64_t channel) {
  const double n = static_cast<double>(numbers(p)), mean = static_cast<double>(p.mean[channel]),
               rstd = static_cast<double>(p.rstd[channel]);
  const double variance = std::max(0.0, 1 / (rstd * rstd) - static_cast<double>(p.eps));
  // Where all numbers are equal, so is their mean, to the bit.
  if (variance * rstd * rstd < 1e-6) return 4 * std::sqrt(variance) + 1e-30;
  return days::epsilons_of_sum(n, n * mean, n * (mean * mean + variance)) / n;
}
template <class T>
double rstd_error(const BatchNorm<T>& p, int64_t channel) {
  const double n = static_cast<double>(numbers(p)), rstd = static_cast<double>(p.rstd[channel]);
  const double shift = mean_error(p, channel) * rstd;
  const double deviations = std::abs(static_cast<double>(p.mean[channel])) * rstd;
  return 2 * std::sqrt(n) + 4 + shift * shift * days::TypeInfo<float>::kEpsilon / 2 +
         2 * deviations / std::sqrt(n);
}
template <class T>
double error_of_mean(const BatchNorm<T>& p) {
  return largest(p, [&p](int64_t channel) { return mean_error(p, channel); });
}
template <class T>
double error_of_rstd(const BatchNorm<T>& p) {
  return largest(p, [&p](int64_t channel) { return rstd_error(p, channel); });
}
// y - beta is (x - mean) * rstd * gamma, and none of n numbers is further than
// sqrt(n) deviations from their mean.
template <class T>
double error_of_y(const BatchNorm<T>& p) {
  const double n = static_cast<double>(numbers(p));
  return largest(p, [&](int64_t channel) {
    const double gamma = std::abs(static_cast<double>(p.gamma[channel])),
                 rstd = static_cast<double>(p.rstd[channel]),
                 beta = std::abs(static_cast<double>(p.beta[channel]));
    const double reach = std::min(std::sqrt(n), 40.0);
    return gamma * mean_error(p, channel) * rstd + (gamma * reach + beta) * (rstd_error(p, channel) + 3);
  });
}

template <class T>
double error_of_dx(const BatchNormBackward<T>& p) {
  return largest(p, [&p](int64_t channel) {
    const double n = static_cast<double>(numbers(p)), mean = static_cast<double>(p.mean[channel]),
                 rstd = static_cast<double>(p.rstd[channel]);
    double most_dy = 0, most_x = 0, sum = 0, squares = 0, sum_x = 0, squares_x = 0;
    for (int64_t i = 0; i < numbers(p); ++i) {
      const int64_t at = Planes::at(p, channel, i);
      const double dy = days::to_double(p.dy[at]), xhat = (days::to_double(p.x[at]) - mean) * rstd;
      most_dy = std::max(most_dy, std::abs(dy));
      most_x = std::max(most_x, std::abs(xhat));
      sum += dy;
      squares += dy * dy;
      sum_x += dy * xhat;
      squares_x += dy * xhat * dy * xhat;
    }
    return std::abs(rstd * static_cast<double>(p.gamma[channel])) *
           (4 * most_dy + (2 * std::abs(sum) + days::epsilons_of_sum(n, sum, squares)) / n +
            most_x * (5 * std::abs(sum_x) + days::epsilons_of_sum(n, sum_x, squares_x)) / n);
  });
}
template <class T>
double error_of_dgamma(const BatchNormBackward<T>& p) {
  return largest(p, [&p](int64_t channel) {
    const double mean = static_cast<double>(p.mean[channel]), rstd = static_cast<double>(p.rstd[channel]);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < numbers(p); ++i) {
      const int64_t at = Planes::at(p, channel, i);
      const double value = days::to_double(p.dy[at]) * (days::to_double(p.x[at]) - mean) * rstd;
      sum += value;
      squares += value * value;
    }
    return days::epsilons_of_sum(static_cast<double>(numbers(p)), sum, squares);
  });
}
template <class T>
double error_of_dbeta(const BatchNormBackward<T>& p) {
  return largest(p, [&p](int64_t channel) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < numbers(p); ++i) {
      const double dy = days::to_double(p.dy[Planes::at(p, channel, i)]);
      sum += dy;
      squares += dy * dy;
    }
    return days::epsilons_of_sum(static_cast<double>(numbers(p)), sum, squares);
  });
}

INSTANTIATE_REFERENCE(batch_norm_reference, BatchNorm, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(batch_norm_parallel, BatchNorm, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(batch_norm_last_reference, BatchNorm, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(batch_norm_last_parallel, BatchNorm, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(batch_norm_backward_reference, BatchNormBackward, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(batch_norm_backward_parallel, BatchNormBackward, float, days::half, days::bf16);
template double error_of_y(const BatchNorm<float>&);
template double error_of_y(const BatchNorm<days::half>&);
template double error_of_y(const BatchNorm<days::bf16>&);
template double error_of_mean(const BatchNorm<float>&);
template double error_of_mean(const BatchNorm<days::half>&);
template double error_of_mean(const BatchNorm<days::bf16>&);
template double error_of_rstd(const BatchNorm<float>&);
template double error_of_rstd(const BatchNorm<days::half>&);
template double error_of_rstd(const BatchNorm<days::bf16>&);
template double error_of_dx(const BatchNormBackward<float>&);
template double error_of_dx(const BatchNormBackward<days::half>&);
template double error_of_dx(const BatchNormBackward<days::bf16>&);
template double error_of_dgamma(const BatchNormBackward<float>&);
template double error_of_dgamma(const BatchNormBackward<days::half>&);
template double error_of_dgamma(const BatchNormBackward<days::bf16>&);
template double error_of_dbeta(const BatchNormBackward<float>&);
template double error_of_dbeta(const BatchNormBackward<days::half>&);
template double error_of_dbeta(const BatchNormBackward<days::bf16>&);

}  // namespace day08
