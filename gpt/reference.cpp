// SPDX-License-Identifier: MIT
#include "gpt/reference.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "gpt/trainer.h"

namespace gpt {
namespace {

using Values = std::vector<double>;

double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
double gelu_slope(double x) {
  const double root = std::sqrt(2 / std::numbers::pi), t = std::tanh(root * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x);
}

// One sequence: rows are its tokens.
struct Sequence {
  const Layout& layout;
  const Values& w;
  Values* g;  // gradients that are added to; null for forward alone
  size_t seq, width;

  // y = x w + b, with w (in, out)
  Values linear(const Values& x, size_t at, size_t bias, size_t in, size_t out) const {
    Values y(seq * out);
    for (size_t t = 0; t < seq; ++t) {
      for (size_t j = 0; j < out; ++j) y[t * out + j] = w[bias + j];
      for (size_t i = 0; i < in; ++i)
        for (size_t j = 0; j < out; ++j) y[t * out + j] += x[t * in + i] * w[at + i * out + j];
    }
    return y;
  }
  Values linear_backward(const Values& x, const Values& dy, size_t at, size_t bias, size_t in,
                         size_t out) const {
    Values dx(seq * in);
    for (size_t t = 0; t < seq; ++t) {
      for (size_t j = 0; j < out; ++j) (*g)[bias + j] += dy[t * out + j];
      for (size_t i = 0; i < in; ++i) {
        double sum = 0;
        for (size_t j = 0; j < out; ++j) {
          sum += dy[t * out + j] * w[at + i * out + j];
          (*g)[at + i * out + j] += x[t * in + i] * dy[t * out + j];
        }
        dx[t * in + i] = sum;
      }
    }
    return dx;
  }

  struct Moments {
    double mean, rstd;
  };
  Moments moments(const Values& x, size_t t) const {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < width; ++i) mean += x[t * width + i] / static_cast<double>(width);
    for (size_t i = 0; i < width; ++i) {
      const double d = x[t * width + i] - mean;
      variance += d * d / static_cast<double>(width);
    }
    return {mean, 1 / std::sqrt(variance + static_cast<double>(kEps))};
  }
  Values normalize(const Values& x, size_t gamma, size_t beta) const {
    Values y(x.size());
    for (size_t t = 0; t < seq; ++t) {
      const Moments m = moments(x, t);
      for (size_t i = 0; i < width; ++i)
        y[t * width + i] = (x[t * width + i] - m.mean) * m.rstd * w[gamma + i] + w[beta + i];
    }
    return y;
  }
  // Adds to dx.
  void normalize_backward(const Values& x, const Values& dy, size_t gamma, size_t beta, Values* dx) const {
    const double n = static_cast<double>(width);
    for (size_t t = 0; t < seq; ++t) {
      const Moments m = moments(x, t);
      double mean = 0, along = 0;
      for (size_t i = 0; i < width; ++i) {
        const double unit = (x[t * width + i] - m.mean) * m.rstd, of_unit = dy[t * width + i] * w[gamma + i];
        (*g)[gamma + i] += dy[t * width + i] * unit;
        (*g)[beta + i] += dy[t * width + i];
        mean += of_unit / n;
        along += of_unit * unit / n;
      }
      for (size_t i = 0; i < width; ++i) {
        const double unit = (x[t * width + i] - m.mean) * m.rstd, of_unit = dy[t * width + i] * w[gamma + i];
        (*dx)[t * width + i] += m.rstd * (of_unit - mean - unit * along);
      }
    }
  }

  // The weight with which token t looks at each token up to itself, in one head.
  Values attention_weights(const Values& qkv, size_t head, size_t t) const {
    const size_t row = 3 * width;
    Values p(t + 1);
    double most = -INFINITY, sum = 0;
    for (size_t s = 0; s <= t; ++s) {
      for (size_t d = 0; d < kHeadDim; ++d)
        p[s] += qkv[t * row + head * kHeadDim + d] * qkv[s * row + width + head * kHeadDim + d];
      p[s] /= std::sqrt(static_cast<double>(kHeadDim));
      most = std::max(most, p[s]);
    }
    for (double& one : p) sum += one = std::exp(one - most);
    for (double& one : p) one /= sum;
    return p;
  }
  Values attend(const Values& qkv) const {
    const size_t row = 3 * width;
    Values o(seq * width);
    for (size_t head = 0; head < width / kHeadDim; ++head)
      for (size_t t = 0; t < seq; ++t) {
        const Values p = attention_weights(qkv, head, t);
        for (size_t s = 0; s <= t; ++s)
          for (size_t d = 0; d < kHeadDim; ++d)
            o[t * width + head * kHeadDim + d] += p[s] * qkv[s * row + 2 * width + head * kHeadDim + d];
      }
    return o;
  }
  Values attend_backward(const Values& qkv, const Values& d_o) const {
    const size_t row = 3 * width;
    const double scale = 1 / std::sqrt(static_cast<double>(kHeadDim));
    Values d_qkv(qkv.size());
    for (size_t head = 0; head < width / kHeadDim; ++head)
      for (size_t t = 0; t < seq; ++t) {
        const Values p = attention_weights(qkv, head, t);
        const size_t h = head * kHeadDim;
        Values dp(t + 1);
        double mean = 0;
        for (size_t s = 0; s <= t; ++s) {
          for (size_t d = 0; d < kHeadDim; ++d) {
            dp[s] += d_o[t * width + h + d] * qkv[s * row + 2 * width + h + d];
            d_qkv[s * row + 2 * width + h + d] += p[s] * d_o[t * width + h + d];
          }
          mean += p[s] * dp[s];
        }
        for (size_t s = 0; s <= t; ++s) {
          const double ds = p[s] * (dp[s] - mean) * scale;
          for (size_t d = 0; d < kHeadDim; ++d) {
            d_qkv[t * row + h + d] += ds * qkv[s * row + width + h + d];
            d_qkv[s * row + width + h + d] += ds * qkv[t * row + h + d];
          }
        }
      }
    return d_qkv;
  }

  // The sum of its losses; `each` is the gradient of every loss.
  double run(std::span<const int32_t> inputs, std::span<const int32_t> targets, double each) const {
    struct Kept {
      Values x, norm1, qkv, attended, middle, norm2, before, after;
    };
    std::vector<Kept> kept;
    const size_t w1 = width, w3 = 3 * width, w4 = 4 * width;
    Values x(seq * width);
    for (size_t t = 0; t < seq; ++t)
      for (size_t i = 0; i < width; ++i)
        x[t * width + i] = w[layout.tokens + static_cast<size_t>(inputs[t]) * width + i] +
                           w[layout.positions + t * width + i];
    for (const Layer& at : layout.layers) {
      Kept k;
      k.x = x;
      k.norm1 = normalize(x, at.norm1, at.norm1_bias);
      k.qkv = linear(k.norm1, at.qkv, at.qkv_bias, w1, w3);
      k.attended = attend(k.qkv);
      k.middle = linear(k.attended, at.proj, at.proj_bias, w1, w1);
      for (size_t i = 0; i < x.size(); ++i) k.middle[i] += x[i];
      k.norm2 = normalize(k.middle, at.norm2, at.norm2_bias);
      k.before = linear(k.norm2, at.fc, at.fc_bias, w1, w4);
      k.after = k.before;
      for (double& one : k.after) one = gelu(one);
      x = linear(k.after, at.down, at.down_bias, w4, w1);
      for (size_t i = 0; i < x.size(); ++i) x[i] += k.middle[i];
      kept.push_back(std::move(k));
    }
    const Values last = normalize(x, layout.norm, layout.norm_bias);

    const auto vocab = static_cast<size_t>(layout.config.vocab);
    double loss = 0;
    Values d_last(seq * width);
    for (size_t t = 0; t < seq; ++t) {
      if (targets[t] == kIgnored) continue;
      Values p(vocab);
      for (size_t v = 0; v < vocab; ++v)
        for (size_t i = 0; i < width; ++i) p[v] += last[t * width + i] * w[layout.tokens + v * width + i];
      const double most = *std::max_element(p.begin(), p.end());
      double sum = 0;
      for (const double one : p) sum += std::exp(one - most);
      const auto target = static_cast<size_t>(targets[t]);
      loss += most + std::log(sum) - p[target];
      if (g == nullptr) continue;
      for (size_t v = 0; v < vocab; ++v) {
        const double d = each * (std::exp(p[v] - most) / sum - (v == target ? 1 : 0));
        for (size_t i = 0; i < width; ++i) {
          d_last[t * width + i] += d * w[layout.tokens + v * width + i];
          (*g)[layout.tokens + v * width + i] += d * last[t * width + i];
        }
      }
    }
    if (g == nullptr) return loss;

    Values dx(seq * width);
    normalize_backward(x, d_last, layout.norm, layout.norm_bias, &dx);
    for (size_t l = layout.layers.size(); l-- > 0;) {
      const Layer& at = layout.layers[l];
      const Kept& k = kept[l];
      Values d_inner = linear_backward(k.after, dx, at.down, at.down_bias, w4, w1);
      for (size_t i = 0; i < d_inner.size(); ++i) d_inner[i] *= gelu_slope(k.before[i]);
      const Values d_norm2 = linear_backward(k.norm2, d_inner, at.fc, at.fc_bias, w1, w4);
      normalize_backward(k.middle, d_norm2, at.norm2, at.norm2_bias, &dx);
      const Values d_attended = linear_backward(k.attended, dx, at.proj, at.proj_bias, w1, w1);
      const Values d_qkv = attend_backward(k.qkv, d_attended);
      const Values d_norm1 = linear_backward(k.norm1, d_qkv, at.qkv, at.qkv_bias, w1, w3);
      normalize_backward(k.x, d_norm1, at.norm1, at.norm1_bias, &dx);
    }
    for (size_t t = 0; t < seq; ++t)
      for (size_t i = 0; i < width; ++i) {
        (*g)[layout.tokens + static_cast<size_t>(inputs[t]) * width + i] += dx[t * width + i];
        (*g)[layout.positions + t * width + i] += dx[t * width + i];
      }
    return loss;
  }
};

}  // namespace

Reference reference(const Layout& layout, const std::vector<double>& weights, std::span<const int32_t> inputs,
                    std::span<const int32_t> targets, int seq, bool gradients) {
  Reference made;
  if (gradients) made.gradients.resize(layout.elements);
  const auto length = static_cast<size_t>(seq);
  const auto valid = static_cast<double>(
      targets.size() - static_cast<size_t>(std::count(targets.begin(), targets.end(), kIgnored)));
  const Sequence one{layout, weights, gradients ? &made.gradients : nullptr, length,
                     static_cast<size_t>(layout.config.width)};
  for (size_t at = 0; at < inputs.size(); at += length)
    made.loss += one.run(inputs.subspan(at, length), targets.subspan(at, length), 1 / valid) / valid;
  return made;
}

}  // namespace gpt
