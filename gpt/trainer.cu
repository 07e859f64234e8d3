// SPDX-License-Identifier: MIT
#include "gpt/trainer.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <type_traits>

#include "common/buffer.h"
#include "common/check.h"
#include "common/stream.h"
#include "day12_layer_norm/layer_norm.h"
#include "day43_flash_attention/attention.h"
#include "day47_flash_attention_backward/backward.h"
#include "day53_adam/adam.h"
#include "day73_embedding/embedding.h"
#include "day74_cross_entropy/cross_entropy.h"
#include "gpt/ops.h"
#include "model/product.h"

namespace gpt {
namespace {

using days::Op;
using model::Epilogue;
using model::Product;

// A layer's activations that backward reads; rows are tokens.
template <class T>
struct Kept {
  T *x, *norm1, *qkv, *attended, *middle, *norm2, *before_gelu, *after_gelu;
  float *mean1, *rstd1, *lse, *mean2, *rstd2;
};

}  // namespace

Recompute recompute_of(const std::string& name) {
  const char* const names[] = {"nothing", "gelu", "norm", "layer"};
  for (int i = 0; i < 4; ++i)
    if (name == names[i]) return static_cast<Recompute>(i);
  throw std::invalid_argument("what is computed again is nothing, gelu, norm or layer, not \"" + name + "\"");
}

const char* name_of(Kind kind) {
  const char* const names[kKinds] = {"products", "attention", "norms", "passes", "loss", "optimizer"};
  return names[static_cast<int>(kind)];
}

namespace {
// Tokens and targets on their way to the device. A copy from pageable memory would wait for all that is queued before it; here the host
// waits for the copy before the last one alone, whose place it writes.
class Staging {
 public:
  explicit Staging(size_t n) : n_(n) {
    CUDA_CHECK(cudaMallocHost(reinterpret_cast<void**>(&data_), kPlaces * 2 * n * sizeof(int32_t)));
    for (cudaEvent_t& event : copied_) CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  }
  ~Staging() {
    for (const cudaEvent_t event : copied_) static_cast<void>(cudaEventDestroy(event));
    static_cast<void>(cudaFreeHost(data_));
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  void copy(std::span<const int32_t> in, std::span<const int32_t> out, int32_t* to_in, int32_t* to_out,
            cudaStream_t stream) {
    place_ = (place_ + 1) % kPlaces;
    CUDA_CHECK(cudaEventSynchronize(copied_[place_]));
    int32_t* const from = data_ + place_ * 2 * n_;
    std::copy(in.begin(), in.end(), from);
    std::copy(out.begin(), out.end(), from + n_);
    CUDA_CHECK(cudaMemcpyAsync(to_in, from, n_ * sizeof(int32_t), cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaMemcpyAsync(to_out, from + n_, n_ * sizeof(int32_t), cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaEventRecord(copied_[place_], stream));
  }

 private:
  static constexpr size_t kPlaces = 2;
  size_t n_, place_ = 0;
  int32_t* data_ = nullptr;
  cudaEvent_t copied_[kPlaces] = {};
};
}  // namespace

template <class T>
struct Trainer<T>::State {
  static constexpr bool kRounds = !std::is_same_v<T, float>;

  // of: null where memory is counted and not taken.
  State(const Trainer* of, const Layout& l, const StepSize& s, const Optimizer& o, const Choices& how)
      : trainer(of), layout(l), size(s), optimizer(o), choices(how) {
    const Config& c = layout.config;
    days::require(s.batch > 0 && s.batch <= 65536, "a step takes 1 to 65536 sequences, not", s.batch);
    days::require(s.seq > 0 && s.seq <= c.context, "a sequence has 1 token to the context's; context is",
                  c.context);
    days::require(int64_t{s.batch} * s.seq <= 1 << 24, "a step takes at most 2^24 tokens at once, not",
                  int64_t{s.batch} * s.seq);
    rows = s.batch * s.seq;
    // Twice over the same code: how much memory, then where in it.
    lay_out();
    if (trainer == nullptr) return;
    staging = std::make_unique<Staging>(static_cast<size_t>(rows));
    arena = days::DeviceMemory(used);
    lay_out();
    parameters.tensors = tensors();
  }

  template <class U>
  U* take(size_t n) {
    const size_t at = used;
    used = days::round_up(used + n * sizeof(U), size_t{256});
    return arena.bytes() == 0 ? nullptr : reinterpret_cast<U*>(static_cast<char*>(arena.data()) + at);
  }

  void lay_out() {
    const Config& c = layout.config;
    const size_t n = static_cast<size_t>(rows), width = static_cast<size_t>(c.width), all = n * width;
    const size_t of_heads = n * static_cast<size_t>(c.heads);
    used = 0;
    master = take<float>(layout.elements);
    m = take<float>(layout.elements);
    v = take<float>(layout.elements);
    gradient = take<float>(layout.elements);
    if constexpr (kRounds) {
      weights = take<T>(layout.elements);
    } else {
      weights = master;
    }
    inputs = take<int32_t>(n);
    targets = take<int32_t>(n);
    loss_scale = take<float>(n);
    loss = take<float>(n);
    rates = take<day53::AdamRates>(1);
    norm = take<float>(1);
    step_loss = take<double>(1);
    other_loss = take<double>(1);
    kept.clear();
    for (int l = 0; l < c.layers; ++l) {
      Kept<T> k{};
      k.x = take<T>(all);
      // What backward computes again has one place for all layers.
      const auto place = [&]<class U>(U* Kept<T>::*array, size_t elements, Recompute again) {
        k.*array = l > 0 && choices.recompute >= again ? kept[0].*array : take<U>(elements);
      };
      place(&Kept<T>::norm1, all, Recompute::kNorm);
      place(&Kept<T>::qkv, 3 * all, Recompute::kLayer);
      place(&Kept<T>::attended, all, Recompute::kLayer);
      place(&Kept<T>::middle, all, Recompute::kLayer);
      place(&Kept<T>::norm2, all, Recompute::kNorm);
      place(&Kept<T>::before_gelu, 4 * all, Recompute::kLayer);
      place(&Kept<T>::after_gelu, 4 * all, Recompute::kGelu);
      place(&Kept<T>::mean1, n, Recompute::kLayer);
      place(&Kept<T>::rstd1, n, Recompute::kLayer);
      place(&Kept<T>::mean2, n, Recompute::kLayer);
      place(&Kept<T>::rstd2, n, Recompute::kLayer);
      place(&Kept<T>::lse, of_heads, Recompute::kLayer);
      kept.push_back(k);
    }
    last = take<T>(all);
    last_norm = take<T>(all);
    last_mean = take<float>(n);
    last_rstd = take<float>(n);
    logits = take<T>(n * static_cast<size_t>(c.padded_vocab));
    q = take<T>(all);
    k = take<T>(all);
    v_heads = take<T>(all);
    o = take<T>(all);
    dx = take<T>(all);
    d_norm = take<T>(all);
    d_one = take<T>(all);
    d_qkv = take<T>(3 * all);
    d_inner = take<T>(4 * all);
    d_gamma = take<T>(width);
    d_beta = take<T>(width);
    workspace_bytes = workspace_needed();
    workspace = take<char>(workspace_bytes);
  }

  std::vector<day53::AdamTensor<T>> tensors() const {
    std::vector<day53::AdamTensor<T>> list;
    for (const Parameter& p : layout.parameters) {
      T* copy = nullptr;
      if constexpr (kRounds) copy = weights + p.offset;
      list.push_back({master + p.offset, gradient + p.offset, m + p.offset, v + p.offset, copy,
                      static_cast<int64_t>(p.elements), p.decays});
    }
    return list;
  }

  // The most that any of them needs; they run one after the other.
  size_t workspace_needed() {
    const Config& c = layout.config;
    size_t bytes = std::max({day12::grad_workspace(rows, c.width), row_sums_workspace(4 * c.width),
                             token_gradient_workspace(rows, c.padded_vocab)});
    day53::AdamStep<T> step{};
    step.tensors = tensors();
    bytes = std::max(bytes, day53::norm_workspace(step));
    bytes = std::max(bytes, day47::rows_workspace(of_attention_backward(Kept<T>{})));
    const auto also = [&](const auto& product) { bytes = std::max(bytes, model::workspace_of(product)); };
    const int w = c.width;
    for (const auto& [out, in] : {std::pair{3 * w, w}, {w, w}, {4 * w, w}, {w, 4 * w}}) {
      also(forward(nullptr, nullptr, nullptr, out, in));
      also(data_gradient(nullptr, nullptr, nullptr, out, in));
      also(weight_gradient(nullptr, nullptr, nullptr, out, in));
    }
    also(logits_product());
    also(logits_data_gradient());
    also(logits_weight_gradient());
    return bytes;
  }

  // y = x w, with w (in, out).
  Product<T> forward(const T* x, const T* w, T* y, int out, int in) const {
    return {.a = {x, in},
            .b = {w, out},
            .c = {y, out},
            .m = rows,
            .n = out,
            .k = in,
            .path = choices.path,
            .workspace = {workspace, workspace_bytes}};
  }
  // dx = dy w^T
  Product<T> data_gradient(const T* dy, const T* w, T* to, int out, int in) const {
    return {.a = {dy, out},
            .b = {w, out},
            .c = {to, in},
            .m = rows,
            .n = in,
            .k = out,
            .op_b = Op::kT,
            .path = choices.path,
            .workspace = {workspace, workspace_bytes}};
  }
  // dw += x^T dy
  Product<T, float> weight_gradient(const T* x, const T* dy, float* dw, int out, int in) const {
    return {.a = {x, in},
            .b = {dy, out},
            .c = {dw, out},
            .m = in,
            .n = out,
            .k = rows,
            .op_a = Op::kT,
            .adds = true,
            .path = choices.path,
            .workspace = {workspace, workspace_bytes}};
  }
  // The embedding is (vocab, width): logits = x w^T.
  Product<T> logits_product() const {
    const Config& c = layout.config;
    return {.a = {last_norm, c.width},
            .b = {weights + layout.tokens, c.width},
            .c = {logits, c.padded_vocab},
            .m = rows,
            .n = c.padded_vocab,
            .k = c.width,
            .op_b = Op::kT,
            .path = choices.path,
            .workspace = {workspace, workspace_bytes}};
  }
  Product<T> logits_data_gradient() const {
    const Config& c = layout.config;
    return {.a = {logits, c.padded_vocab},
            .b = {weights + layout.tokens, c.width},
            .c = {d_norm, c.width},
            .m = rows,
            .n = c.width,
            .k = c.padded_vocab,
            .path = choices.path,
            .workspace = {workspace, workspace_bytes}};
  }
  Product<T, float> logits_weight_gradient() const {
    const Config& c = layout.config;
    return {.a = {logits, c.padded_vocab},
            .b = {last_norm, c.width},
            .c = {gradient + layout.tokens, c.width},
            .m = c.padded_vocab,
            .n = c.width,
            .k = rows,
            .op_a = Op::kT,
            .adds = true,
            .path = choices.path,
            .workspace = {workspace, workspace_bytes}};
  }
  // Queues kernels of a kind.
  template <class Queue>
  void run(Kind kind, const Queue& queue) const {
    if (trainer->on_kind) trainer->on_kind(kind, false);
    queue();
    if (trainer->on_kind) trainer->on_kind(kind, true);
  }
  void multiply(const auto& product) const {
    run(Kind::kProducts, [&] { model::multiply(product, stream); });
  }

  // y = x w + bias, and + residual where there is one.
  void add_product(Product<T> p, const T* bias, const T* residual = nullptr) const {
    if (choices.fused) {
      p.epilogue = residual == nullptr ? Epilogue::kBias : Epilogue::kBiasResidual;
      p.bias = bias, p.residual = {residual, p.n};
      return multiply(p);
    }
    multiply(p);
    run(Kind::kPasses, [&] {
      add_bias(p.c.data, bias, rows, p.n, stream);
      if (residual != nullptr) add_to(p.c.data, residual, elements_of(p.n), stream);
    });
  }
  size_t elements_of(int width) const { return static_cast<size_t>(rows) * static_cast<size_t>(width); }

  void normalize(const T* x, size_t gamma, size_t beta, T* y, float* mean, float* rstd) const {
    run(Kind::kNorms, [&] {
      day12::layer_norm_persistent<T>(
          {x, weights + gamma, weights + beta, y, mean, rstd, rows, layout.config.width, kEps}, stream);
    });
  }
  day12::LayerNormBackward<T> of_norm(const T* x, size_t gamma, const float* mean, const float* rstd,
                                      T* to) const {
    return {x,
            d_norm,
            weights + gamma,
            mean,
            rstd,
            to,
            d_gamma,
            d_beta,
            rows,
            layout.config.width,
            {workspace, workspace_bytes}};
  }
  // dx = the gradient of x from that of its norm, d_norm; and those of gamma and beta are added.
  void normalize_backward(const T* x, size_t gamma, size_t beta, const float* mean, const float* rstd,
                          T* to) const {
    const auto width = static_cast<size_t>(layout.config.width);
    run(Kind::kNorms, [&] {
      day12::layer_norm_grad_registers<T>(of_norm(x, gamma, mean, rstd, to), stream);
      add_gradient(gradient + gamma, d_gamma, width, stream);
      add_gradient(gradient + beta, d_beta, width, stream);
    });
  }
  // The same, but added to dx, the residual's gradient.
  void add_normalize_backward(const T* x, size_t gamma, size_t beta, const float* mean,
                              const float* rstd) const {
    if (choices.fused)
      return run(Kind::kNorms, [&] {
        add_norm_gradient(of_norm(x, gamma, mean, rstd, dx), gradient + gamma, gradient + beta, stream);
      });
    normalize_backward(x, gamma, beta, mean, rstd, d_one);
    run(Kind::kPasses, [&] { add_to(dx, d_one, elements_of(layout.config.width), stream); });
  }

  void attend(const Kept<T>& a) const {
    const Config& c = layout.config;
    run(Kind::kPasses, [&] { split_heads(a.qkv, q, k, v_heads, size.batch, size.seq, c.heads, stream); });
    const days::Attention<T> p{q,
                               k,
                               v_heads,
                               o,
                               a.lse,
                               size.batch,
                               c.heads,
                               size.seq,
                               size.seq,
                               kHeadDim,
                               1 / std::sqrt(static_cast<float>(kHeadDim)),
                               true};
    run(Kind::kAttention, [&] {
      if constexpr (kRounds) {
        day43::attention_wide<T>(p, stream);
      } else {
        day43::attention_tiled(p, stream);
      }
    });
    run(Kind::kPasses, [&] { join_heads(o, a.attended, size.batch, size.seq, c.heads, stream); });
  }
  // Reads q, k and v where the product wrote them, and writes their gradients in the same order.
  days::AttentionBackward<T> of_attention_backward(const Kept<T>& a) const {
    const Config& c = layout.config;
    const int64_t width = c.width, seq = size.seq;
    const days::Pitches of_qkv{3 * width, kHeadDim, seq * 3 * width}, of_o{width, kHeadDim, seq * width};
    return {a.qkv,
            a.qkv + width,
            a.qkv + 2 * width,
            a.attended,
            d_one,
            a.lse,
            d_qkv,
            d_qkv + width,
            d_qkv + 2 * width,
            of_qkv,
            of_qkv,
            of_o,
            size.batch,
            c.heads,
            c.heads,
            size.seq,
            size.seq,
            kHeadDim,
            1 / std::sqrt(static_cast<float>(kHeadDim)),
            true,
            {workspace, workspace_bytes}};
  }

  void run_gelu(const Kept<T>& a) const {
    run(Kind::kPasses,
        [&] { gelu(a.before_gelu, a.after_gelu, elements_of(4 * layout.config.width), stream); });
  }
  // A layer's forward. to: where the residual goes; null: all but that, for backward.
  void run_layer(int l, T* to) const {
    const int w = layout.config.width;
    const Kept<T>& a = kept[static_cast<size_t>(l)];
    const Layer& at = layout.layers[static_cast<size_t>(l)];
    normalize(a.x, at.norm1, at.norm1_bias, a.norm1, a.mean1, a.rstd1);
    add_product(forward(a.norm1, weights + at.qkv, a.qkv, 3 * w, w), weights + at.qkv_bias);
    attend(a);
    add_product(forward(a.attended, weights + at.proj, a.middle, w, w), weights + at.proj_bias, a.x);
    normalize(a.middle, at.norm2, at.norm2_bias, a.norm2, a.mean2, a.rstd2);
    if (choices.fused) {
      Product<T> fc = forward(a.norm2, weights + at.fc, a.after_gelu, 4 * w, w);
      fc.epilogue = Epilogue::kBiasGelu, fc.bias = weights + at.fc_bias, fc.kept = {a.before_gelu, 4 * w};
      multiply(fc);
    } else {
      add_product(forward(a.norm2, weights + at.fc, a.before_gelu, 4 * w, w), weights + at.fc_bias);
      run_gelu(a);
    }
    if (to != nullptr)
      add_product(forward(a.after_gelu, weights + at.down, to, w, 4 * w), weights + at.down_bias, a.middle);
  }

  void run_forward() const {
    const Config& c = layout.config;
    const int w = c.width;
    T* const first = kept[0].x;
    run(Kind::kPasses, [&] {
      day73::embedding_gather_rows<T>({weights + layout.tokens, inputs, first, rows, c.padded_vocab, w, 0},
                                      stream);
      add_positions(first, weights + layout.positions, size.batch, size.seq, w, stream);
    });
    for (int l = 0; l < c.layers; ++l)
      run_layer(l, l + 1 < c.layers ? kept[static_cast<size_t>(l) + 1].x : last);
    normalize(last, layout.norm, layout.norm_bias, last_norm, last_mean, last_rstd);
    multiply(logits_product());
  }

  // Losses, whose sum is added to `sum`, and the gradients of the logits in their place, scaled.
  void run_loss(float scale, double* sum) const {
    const Config& c = layout.config;
    run(Kind::kLoss, [&] {
      fill(loss_scale, scale, static_cast<size_t>(rows), stream);
      day74::cross_entropy_online<T>(
          {logits, targets, loss_scale, loss, rows, c.padded_vocab, c.vocab, 0, kIgnored}, stream);
      add_sum(sum, loss, static_cast<size_t>(rows), stream);
    });
  }

  void run_backward(const std::function<void(int)>& done) const {
    const Config& c = layout.config;
    const int w = c.width;
    multiply(logits_data_gradient());
    multiply(logits_weight_gradient());
    normalize_backward(last, layout.norm, layout.norm_bias, last_mean, last_rstd, dx);
    for (int l = c.layers - 1; l >= 0; --l) {
      const Kept<T>& a = kept[static_cast<size_t>(l)];
      const Layer& at = layout.layers[static_cast<size_t>(l)];
      // What forward left of the last layer is still there.
      const Recompute again = l + 1 < c.layers ? choices.recompute : Recompute::kNothing;
      if (again == Recompute::kLayer) run_layer(l, nullptr);
      if (again == Recompute::kGelu || again == Recompute::kNorm) run_gelu(a);
      if (again == Recompute::kNorm) {
        normalize(a.middle, at.norm2, at.norm2_bias, a.norm2, a.mean2, a.rstd2);
        normalize(a.x, at.norm1, at.norm1_bias, a.norm1, a.mean1, a.rstd1);
      }
      // dx is the gradient of what the layer gives.
      run(Kind::kPasses, [&] { add_row_sums(gradient + at.down_bias, dx, rows, w, workspace, stream); });
      multiply(weight_gradient(a.after_gelu, dx, gradient + at.down, w, 4 * w));
      Product<T> inner = data_gradient(dx, weights + at.down, d_inner, w, 4 * w);
      if (choices.fused) inner.epilogue = Epilogue::kGeluSlope, inner.kept = {a.before_gelu, 4 * w};
      multiply(inner);
      if (!choices.fused)
        run(Kind::kPasses, [&] { times_gelu_slope(d_inner, a.before_gelu, elements_of(4 * w), stream); });
      run(Kind::kPasses,
          [&] { add_row_sums(gradient + at.fc_bias, d_inner, rows, 4 * w, workspace, stream); });
      multiply(weight_gradient(a.norm2, d_inner, gradient + at.fc, 4 * w, w));
      multiply(data_gradient(d_inner, weights + at.fc, d_norm, 4 * w, w));
      add_normalize_backward(a.middle, at.norm2, at.norm2_bias, a.mean2, a.rstd2);
      // dx is that of the middle.
      run(Kind::kPasses, [&] { add_row_sums(gradient + at.proj_bias, dx, rows, w, workspace, stream); });
      multiply(weight_gradient(a.attended, dx, gradient + at.proj, w, w));
      multiply(data_gradient(dx, weights + at.proj, d_one, w, w));
      run(Kind::kAttention, [&] {
        if constexpr (kRounds) {
          day47::backward_apart<T>(of_attention_backward(a), stream);
        } else {
          day47::backward_tiled(of_attention_backward(a), stream);
        }
      });
      run(Kind::kPasses,
          [&] { add_row_sums(gradient + at.qkv_bias, d_qkv, rows, 3 * w, workspace, stream); });
      multiply(weight_gradient(a.norm1, d_qkv, gradient + at.qkv, 3 * w, w));
      multiply(data_gradient(d_qkv, weights + at.qkv, d_norm, 3 * w, w));
      add_normalize_backward(a.x, at.norm1, at.norm1_bias, a.mean1, a.rstd1);
      if (done) done(l);
    }
    // The embedding's second gradient; the first came with the logits.
    run(Kind::kPasses, [&] {
      add_token_gradient(gradient + layout.tokens, dx, inputs, rows, c.padded_vocab, w, workspace, stream);
      add_position_gradient(gradient + layout.positions, dx, size.batch, size.seq, w, stream);
    });
    if (done) done(-1);
  }

  void upload(std::span<const int32_t> in, std::span<const int32_t> out) const {
    const auto n = static_cast<size_t>(rows);
    days::require(in.size() == n && out.size() == n, "a step takes (batch, seq) tokens and targets, not",
                  in.size());
    for (size_t i = 0; i < n; ++i) {
      days::require(in[i] >= 0 && in[i] < layout.config.vocab, "a token is none of the vocabulary:", in[i]);
      days::require(out[i] == kIgnored || (out[i] >= 0 && out[i] < layout.config.vocab),
                    "a target is none of the vocabulary:", out[i]);
    }
    staging->copy(in, out, inputs, targets, stream);
  }

  const Trainer* trainer;
  Layout layout;
  StepSize size;
  Optimizer optimizer;
  Choices choices;
  int rows = 0;
  int64_t step = 0, valid = 0;
  std::unique_ptr<Staging> staging;
  days::Stream stream;
  days::DeviceMemory arena;
  size_t used = 0, workspace_bytes = 0;
  struct {
    std::vector<day53::AdamTensor<T>> tensors;
  } parameters;

  float *master = nullptr, *m = nullptr, *v = nullptr, *gradient = nullptr, *loss_scale = nullptr,
        *loss = nullptr, *norm = nullptr, *last_mean = nullptr, *last_rstd = nullptr;
  double *step_loss = nullptr, *other_loss = nullptr;
  T* weights = nullptr;
  int32_t *inputs = nullptr, *targets = nullptr;
  day53::AdamRates* rates = nullptr;
  std::vector<Kept<T>> kept;
  T *last = nullptr, *last_norm = nullptr, *logits = nullptr, *q = nullptr, *k = nullptr, *v_heads = nullptr,
    *o = nullptr, *dx = nullptr, *d_norm = nullptr, *d_one = nullptr, *d_qkv = nullptr, *d_inner = nullptr,
    *d_gamma = nullptr, *d_beta = nullptr;
  char* workspace = nullptr;
};

template <class T>
Trainer<T>::Trainer(const Layout& layout, const StepSize& size, const Optimizer& optimizer,
                    const Choices& choices)
    : state_(std::make_unique<State>(this, layout, size, optimizer, choices)) {}
template <class T>
Trainer<T>::~Trainer() = default;

template <class T>
size_t Trainer<T>::bytes_of(const Layout& layout, const StepSize& size, const Choices& choices) {
  return State(nullptr, layout, size, {}, choices).used;
}
template <class T>
int Trainer<T>::tokens() const {
  return state_->rows;
}
template <class T>
size_t Trainer<T>::bytes() const {
  return state_->used;
}
template <class T>
cudaStream_t Trainer<T>::stream() const {
  return state_->stream;
}

template <class T>
void Trainer<T>::put(const Memory& memory) {
  State& s = *state_;
  const size_t n = s.layout.elements;
  for (const auto& [from, to] : {std::pair{&memory.weights, s.master}, {&memory.m, s.m}, {&memory.v, s.v}}) {
    days::require(from->size() == n, "a training's array has the layout's elements, not", from->size());
    CUDA_CHECK(cudaMemcpyAsync(to, from->data(), n * sizeof(float), cudaMemcpyHostToDevice, s.stream));
  }
  if constexpr (State::kRounds) round_weights(s.master, s.weights, n, s.stream);
  CUDA_CHECK(cudaStreamSynchronize(s.stream));
  s.step = memory.step;
}

namespace {
template <class U>
std::vector<U> download(const U* from, size_t n, cudaStream_t stream) {
  std::vector<U> values(n);
  CUDA_CHECK(cudaMemcpyAsync(values.data(), from, n * sizeof(U), cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  return values;
}
}  // namespace

template <class T>
Memory Trainer<T>::get() const {
  const State& s = *state_;
  const size_t n = s.layout.elements;
  const cudaStream_t stream = s.stream;
  return {download(s.master, n, stream), download(s.m, n, stream), download(s.v, n, stream), s.step};
}
template <class T>
std::vector<float> Trainer<T>::gradients() const {
  return download(state_->gradient, state_->layout.elements, state_->stream);
}

template <class T>
void Trainer<T>::begin(int64_t valid) {
  State& s = *state_;
  days::require(valid > 0, "a step has targets to learn from, not", valid);
  s.valid = valid;
  s.run(Kind::kOptimizer, [&] {
    CUDA_CHECK(cudaMemsetAsync(s.gradient, 0, s.layout.elements * sizeof(float), s.stream));
    CUDA_CHECK(cudaMemsetAsync(s.step_loss, 0, sizeof(double), s.stream));
  });
}

template <class T>
void Trainer<T>::accumulate(std::span<const int32_t> inputs, std::span<const int32_t> targets) {
  const State& s = *state_;
  days::require(s.valid > 0, "begin() comes before accumulate(); targets are", s.valid);
  s.upload(inputs, targets);
  s.run_forward();
  s.run_loss(static_cast<float>(1.0 / static_cast<double>(s.valid)), s.step_loss);
  s.run_backward(on_layer_done);
}
template <class T>
double Trainer<T>::loss_sum() const {
  return download(state_->step_loss, 1, state_->stream)[0];
}

template <class T>
double Trainer<T>::losses(std::span<const int32_t> inputs, std::span<const int32_t> targets) {
  const State& s = *state_;
  s.upload(inputs, targets);
  s.run_forward();
  CUDA_CHECK(cudaMemsetAsync(s.other_loss, 0, sizeof(double), s.stream));
  s.run_loss(0, s.other_loss);
  return download(s.other_loss, 1, s.stream)[0];
}

template <class T>
float Trainer<T>::update(double rate) {
  State& s = *state_;
  const day53::AdamRule rule{s.optimizer.b1, s.optimizer.b2, s.optimizer.eps, s.optimizer.decay};
  const day53::AdamRates rates = day53::adam_rates(rule, rate, s.step + 1);
  CUDA_CHECK(cudaMemcpyAsync(s.rates, &rates, sizeof rates, cudaMemcpyHostToDevice, s.stream));
  s.run(Kind::kOptimizer, [&] {
    day53::step_mixed<T>(
        {s.parameters.tensors, rule, s.rates, s.optimizer.max_norm, s.norm, {s.workspace, s.workspace_bytes}},
        s.stream);
  });
  const float norm = download(s.norm, 1, s.stream)[0];
  s.valid = 0;
  if (std::isfinite(norm)) ++s.step;
  return norm;
}

template <class T>
std::vector<float> Trainer<T>::next(std::span<const int32_t> sequence) {
  const State& s = *state_;
  days::require(!sequence.empty() && sequence.size() <= static_cast<size_t>(s.size.seq),
                "a text to go on from has 1 token to the step's; it has", sequence.size());
  std::vector<int32_t> inputs(static_cast<size_t>(s.rows)), targets(inputs.size(), kIgnored);
  std::copy(sequence.begin(), sequence.end(), inputs.begin());
  s.upload(inputs, targets);
  s.run_forward();
  const size_t vocab = static_cast<size_t>(s.layout.config.vocab);
  std::vector<T> row(vocab);
  CUDA_CHECK(cudaMemcpyAsync(
      row.data(), s.logits + (sequence.size() - 1) * static_cast<size_t>(s.layout.config.padded_vocab),
      vocab * sizeof(T), cudaMemcpyDeviceToHost, s.stream));
  CUDA_CHECK(cudaStreamSynchronize(s.stream));
  std::vector<float> logits;
  for (const T x : row) logits.push_back(static_cast<float>(x));
  return logits;
}

template class Trainer<float>;
template class Trainer<days::bf16>;

}  // namespace gpt
