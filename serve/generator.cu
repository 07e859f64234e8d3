// SPDX-License-Identifier: MIT
#include "serve/generator.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "common/buffer.h"
#include "common/check.h"
#include "common/graph.h"
#include "common/program.h"
#include "common/stream.h"
#include "common/util.h"
#include "day12_layer_norm/layer_norm.h"
#include "day12_layer_norm/rms_norm.h"
#include "day44_gegelu/swiglu.h"
#include "model/product.h"
#include "serve/ops.h"
#include "serve/pack.h"
#include "serve/persistent.h"
#include "serve/step.h"

namespace serve {
namespace {

using days::Op;
using model::Epilogue;
using model::Product;

// On a CPU the plainest kernel is the fastest: its tiles are small, and so are models there.
#ifdef __SIMT__
constexpr model::Path kPath = model::Path::kSimple;
#else
constexpr model::Path kPath = model::Path::kAutomatic;
#endif

template <class T>
struct DeviceLayer : LayerOnDevice<T> {
  Kept few_qkv, few_proj, few_first, few_down;  // of a fused step
};

// A product's kernel and split are chosen once for each kind of step: then a row's sums have the same order however many rows there are.
struct Plans {
  model::Plan qkv, proj, first, down, output;
};

}  // namespace

const char* name_of(Step step) {
  switch (step) {
    case Step::kCached:
      return "cached";
    case Step::kGraph:
      return "graph";
    case Step::kFused:
      return "fused";
    case Step::kDependent:
      return "dependent";
    case Step::kQuantized:
      return "quantized";
    case Step::kPersistent:
      return "persistent";
    case Step::kBest:
      break;
  }
  return "best";
}

void require_sampling(const Sampling& s) {
  days::require(s.temperature >= 0 && s.temperature <= 100, "a temperature is 0 to 100, not", s.temperature);
  days::require(s.top_k >= 0 && s.top_k <= kMostCandidates, "top_k is 0 (all) to 256, not", s.top_k);
  days::require(s.top_p >= 0 && s.top_p <= 1, "top_p is 0 to 1, not", s.top_p);
}

template <class T>
struct Generator<T>::State {
  State(const Model& model, const Size& s) : config(model.config), size(s) {
    require_config(config);
    require_weights(config, model.weights);
    days::require(s.sequences > 0 && s.sequences <= 1024, "1 to 1024 texts are written at once, not",
                  s.sequences);
    days::require(s.chunk > 0 && s.chunk <= 65536, "a chunk has 1 to 65536 tokens, not", s.chunk);
    most_pages = days::ceil_div(config.context, kPage);
    const int64_t all = int64_t{s.sequences} * most_pages;
    days::require(s.pages >= 0 && s.pages <= all && all <= 1 << 24,
                  "pages are 0 (enough) to those of all texts, and at most 2^24, not", s.pages);
    pages = s.pages == 0 ? static_cast<int>(all) : s.pages;
    size.chunk = std::min(s.chunk, config.context);
    if (s.step == Step::kBest) {
      // More texts than a block has rows read the weights more than once by products of few rows.
      size.step = s.sequences > 64 || !lacks(config, Step::kFused).empty() ? Step::kGraph
                  : lacks(config, Step::kDependent).empty()                ? Step::kDependent
                                                                           : Step::kFused;
    }
    days::require(size.step != Step::kPersistent || s.sequences == 1,
                  "a step that is persistent is of one text, not of", s.sequences);
    const std::string lacking = lacks(config, size.step);
    if (!lacking.empty())
      throw std::invalid_argument(std::string("a step that is ") + name_of(size.step) + " " + lacking);
    most_rows = std::max(size.chunk, s.sequences);
    tied = model.weights.output.empty();
    has_places = !model.weights.positions.empty();
    // Twice over the same code: how much memory, then where in it.
    lay_out();
    arena = days::DeviceMemory(used);
    lay_out();
    upload(model.weights);
    // The device writes its choice where the host reads it.
    pinned_chosen = std::make_unique<days::PinnedBuffer<int32_t>>(static_cast<size_t>(s.sequences));
    chosen = pinned_chosen->data();
    CUDA_CHECK(cudaMemsetAsync(choosing.data, 0, choose_bytes(choosing.rows, config.vocab), stream));
    if (fused())
      CUDA_CHECK(cudaMemsetAsync(parts.tickets, 0,
                                 sizeof(unsigned) * static_cast<size_t>(s.sequences * config.heads), stream));
    pinned = std::make_unique<days::PinnedBuffer<char>>(there.bytes());
    pinned_rows = std::make_unique<days::PinnedBuffer<int32_t>>(3 * static_cast<size_t>(most_rows));
    std::fill_n(pinned_rows->data(), pinned_rows->size(), 0);
    here = {pinned->data(), s.sequences, most_pages};
    for (int page = pages - 1; page >= 0; --page) free_pages.push_back(page);
    for (int slot = s.sequences - 1; slot >= 0; --slot) free_slots.push_back(slot);
    texts.resize(static_cast<size_t>(s.sequences));
    for (int i = 0; i < s.sequences; ++i) {
      here.choices()[i] = Choice{};
      here.lengths()[i] = 0;
      here.row_slots()[i] = -1;
    }
    std::fill_n(here.table(), int64_t{s.sequences} * most_pages, 0);
    if (size.step == Step::kPersistent) {
      const ModelOnDevice<T> all{tokens,   positions, output, norm, norm_bias, {layers.begin(), layers.end()},
                                 frequency};
      persistent = std::make_unique<Persistent<T>>(config, all, slots());
    }
    for (int rows = 1; size.step != Step::kCached; rows = std::min(2 * rows, s.sequences)) {
      graphs.push_back({rows, std::make_unique<days::Graph>(stream, [&] { queue_decode(rows); })});
      if (rows == s.sequences) break;
    }
  }

  static std::string lacks(const Config& c, Step step) {
    if (step < Step::kFused) return "";
    if (step == Step::kPersistent)
      return days::device_attribute(cudaDevAttrCooperativeLaunch) != 0 ? "" : "needs cooperative launches";
    if (std::is_same_v<T, float>) return "needs weights of 16 bits";
    if (c.head_dim == 96) return "needs a head's dimension of 32, 64 or 128";
    if (c.width > kMostNormal) return "needs a width of at most 3072";
    const int sm = model::target_here().sm;
    if (sm < 80) return "needs sm_80";
    return step >= Step::kDependent && sm < 90 ? "needs sm_90" : "";
  }
  bool fused() const { return size.step >= Step::kFused && size.step < Step::kPersistent; }
  bool quantized() const { return size.step == Step::kQuantized; }

  template <class U>
  U* take(size_t n) {
    const size_t at = used;
    used = days::round_up(used + n * sizeof(U), size_t{256});
    return arena.bytes() == 0 ? nullptr : reinterpret_cast<U*>(static_cast<char*>(arena.data()) + at);
  }

  // What the host says of the slots, once on the device and once, pinned, here.
  struct Said {
    char* data = nullptr;
    int sequences = 0, most_pages = 0;
    size_t bytes() const {
      return static_cast<size_t>(sequences) *
             (sizeof(Choice) + sizeof(int32_t) * (2 + static_cast<size_t>(most_pages)));
    }
    Choice* choices() const { return reinterpret_cast<Choice*>(data); }
    int32_t* lengths() const { return reinterpret_cast<int32_t*>(choices() + sequences); }
    int32_t* row_slots() const { return lengths() + sequences; }
    int32_t* table() const { return row_slots() + sequences; }
  };

  void lay_out() {
    const Config& c = config;
    const auto n = [](int64_t rows, int64_t cols) { return static_cast<size_t>(rows * cols); };
    used = 0;
    tokens = take<T>(n(c.padded_vocab, c.width));
    positions = has_places ? take<T>(n(c.context, c.width)) : nullptr;
    output = tied ? tokens : take<T>(n(c.padded_vocab, c.width));
    norm = take<T>(n(1, c.width));
    norm_bias = take<T>(n(1, c.width));
    layers.clear();
    const size_t of_cache = n(pages, int64_t{kPage} * c.kv_heads * c.head_dim);
    for (int l = 0; l < c.layers; ++l) {
      DeviceLayer<T> d{};
      d.norm1 = take<T>(n(1, c.width));
      d.norm1_bias = take<T>(n(1, c.width));
      d.qkv = take<T>(n(c.qkv_width(), c.width));
      d.qkv_bias = take<T>(n(1, c.qkv_width()));
      d.proj = take<T>(n(c.width, c.q_width()));
      d.proj_bias = take<T>(n(1, c.width));
      d.norm2 = take<T>(n(1, c.width));
      d.norm2_bias = take<T>(n(1, c.width));
      d.first = take<T>(n(c.first_width(), c.width));
      d.first_bias = take<T>(n(1, c.first_width()));
      d.down = take<T>(n(c.width, c.inner));
      d.down_bias = take<T>(n(1, c.width));
      d.keys = take<T>(of_cache);
      d.values = take<T>(of_cache);
      d.few_qkv = kept4(d.qkv, c.qkv_width(), c.width);
      d.few_proj = kept4(d.proj, c.width, c.q_width());
      d.few_first = kept4(d.first, c.first_width(), c.width);
      d.few_down = kept4(d.down, c.width, c.inner);
      layers.push_back(d);
    }
    few_output = {output, nullptr, 16};
    if (quantized()) {
      const int64_t tiles = days::ceil_div(c.padded_vocab, 8);
      few_output = {take<uint4>(n(32 * tiles, days::ceil_div(c.width, 64))), take<float>(n(8, tiles)), 8};
    }
    frequency = take<float>(n(1, c.head_dim / 2));
    there = {take<char>(Said{nullptr, size.sequences, most_pages}.bytes()), size.sequences, most_pages};
    last = take<int32_t>(n(1, size.sequences));
    prompt_rows = take<int32_t>(n(3, most_rows));
    decode_tokens = take<int32_t>(n(1, size.sequences));
    decode_positions = take<int32_t>(n(1, size.sequences));
    x = take<T>(n(most_rows, c.width));
    normal = take<T>(n(most_rows, c.width));
    qkv = take<T>(n(most_rows, c.qkv_width()));
    attended = take<T>(n(most_rows, c.q_width()));
    first = take<T>(n(most_rows, c.first_width()));
    inner = c.inner_kind == Inner::kSwiGlu ? take<T>(n(most_rows, c.inner)) : first;
    mean = take<float>(n(1, most_rows));
    rstd = take<float>(n(1, most_rows));
    logits = take<float>(n(size.sequences, c.padded_vocab));
    choosing = {take<char>(choose_bytes(size.sequences, c.vocab)), size.sequences};
    if (fused()) {
      parts.parts = days::ceil_div(c.context, kPartKeys);
      const int64_t heads = int64_t{size.sequences} * c.heads;
      parts.sums = take<float>(n(heads * parts.parts, c.head_dim));
      parts.shares = take<float2>(n(heads, parts.parts));
      parts.tickets = take<unsigned>(n(1, heads));
    }
    workspace.bytes = std::max(plan(size.sequences, &of_decode), plan(size.chunk, &of_prompt));
    workspace.data = take<char>(workspace.bytes);
  }

  // Where four bits of a matrix lie, and their scales.
  Kept kept4(const T* plain, int out, int in) {
    if (!quantized()) return {plain, nullptr, 16};
    // Half a tile of 8 rows may be padding where gate and up share one.
    const auto units =
        static_cast<size_t>(days::ceil_div(out, 8) + 1) * static_cast<size_t>(days::ceil_div(in, 128));
    uint4* const words = take<uint4>(32 * units);
    return {words, take<T>(8 * units), 4};
  }

  // y = x w^T, with w (out, in).
  template <class Out>
  Product<T, Out> product(const T* from, const T* w, Out* to, int rows, int out, int in) const {
    return {.a = {from, in},
            .b = {w, in},
            .c = {to, out},
            .m = rows,
            .n = out,
            .k = in,
            .op_b = Op::kT,
            .path = kPath};
  }
  // Returns the bytes of workspace that they need.
  size_t plan(int rows, Plans* plans) const {
    const Config& c = config;
    const DeviceLayer<T>& l = layers[0];
    const model::Target target = model::target_here();
    plans->qkv = plan_of(product(normal, l.qkv, qkv, rows, c.qkv_width(), c.width), target);
    plans->proj = plan_of(product(attended, l.proj, x, rows, c.width, c.q_width()), target);
    plans->first = plan_of(product(normal, l.first, first, rows, c.first_width(), c.width), target);
    plans->down = plan_of(product(inner, l.down, x, rows, c.width, c.inner), target);
    plans->output = plan_of(
        product(normal, output, logits, std::min(rows, size.sequences), c.padded_vocab, c.width), target);
    return std::max({plans->qkv.workspace, plans->proj.workspace, plans->first.workspace,
                     plans->down.workspace, plans->output.workspace});
  }
  template <class Out>
  void multiply(Product<T, Out> p, const model::Plan& plan) const {
    p.path = plan.path;
    p.split = plan.split;
    p.workspace = workspace;
    model::multiply(p, stream);
  }

  template <class U>
  void copy(const void* to, const std::vector<U>& from) const {
    CUDA_CHECK(cudaMemcpyAsync(const_cast<void*>(to), from.data(), from.size() * sizeof(U),
                               cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  void put(const void* to, const std::vector<float>& from) const {
    if constexpr (std::is_same_v<T, float>) {
      copy(to, from);
    } else {
      std::vector<T> rounded;
      rounded.reserve(from.size());
      for (const float value : from) rounded.push_back(T(value));
      copy(to, rounded);
    }
  }
  // A matrix; with fewer bits, both these and what they stand for, which prompts are computed with.
  void put_matrix(T* to, const Kept& kept, const std::vector<float>& from, int out, int in,
                  bool gate = false) {
    if (kept.bits == 16) return put(to, from);
    const Packed packed = kept.bits == 4 ? pack4<T>(from, out, in, gate) : pack8(from, out, in);
    copy(kept.data, packed.words);
    if (kept.bits == 4) {
      put(kept.scale, packed.scales);
    } else {
      copy(kept.scale, packed.scales);
    }
    put(to, packed.values);
    for (size_t i = 0; i < from.size(); ++i) {
      const double value = static_cast<double>(from[i]), off = static_cast<double>(packed.values[i]) - value;
      squares += value * value;
      squares_off += off * off;
    }
  }
  void upload(const Weights& w) {
    const Config& c = config;
    if (tied) {
      put_matrix(tokens, few_output, w.tokens, c.padded_vocab, c.width);
    } else {
      put(tokens, w.tokens);
      put_matrix(output, few_output, w.output, c.padded_vocab, c.width);
    }
    put(positions, w.positions);
    put(norm, w.norm);
    put(norm_bias, w.norm_bias);
    for (size_t l = 0; l < layers.size(); ++l) {
      const DeviceLayer<T>& to = layers[l];
      const Weights::Layer& from = w.layers[l];
      put(to.norm1, from.norm1);
      put(to.norm1_bias, from.norm1_bias);
      put_matrix(to.qkv, to.few_qkv, from.qkv, c.qkv_width(), c.width);
      put(to.qkv_bias, from.qkv_bias);
      put_matrix(to.proj, to.few_proj, from.proj, c.width, c.q_width());
      put(to.proj_bias, from.proj_bias);
      put(to.norm2, from.norm2);
      put(to.norm2_bias, from.norm2_bias);
      put_matrix(to.first, to.few_first, from.first, c.first_width(), c.width,
                 c.inner_kind == Inner::kSwiGlu);
      put(to.first_bias, from.first_bias);
      put_matrix(to.down, to.few_down, from.down, c.width, c.inner);
      put(to.down_bias, from.down_bias);
    }
    std::vector<float> turns;
    for (const double turn : turns_of(c)) turns.push_back(static_cast<float>(turn));
    copy(frequency, turns);
  }

  Slots slots() const { return {there.lengths(), last, there.choices(), there.table(), most_pages}; }

  void normalize(const T* from, const T* gamma, const T* beta, T* to, int rows) const {
    if (config.norm == Norm::kLayer) {
      day12::layer_norm_persistent<T>({from, gamma, beta, to, mean, rstd, rows, config.width, config.eps},
                                      stream);
    } else {
      day12::rms_norm_registers<T>({from, gamma, to, nullptr, rows, config.width, config.eps}, stream);
    }
  }
  Attend<T> attention_of(const DeviceLayer<T>& l, int count) const {
    const Config& c = config;
    return {qkv,   l.keys,  l.values,   attended,   c.places == Places::kTurned ? frequency : nullptr,
            count, c.heads, c.kv_heads, c.head_dim, 1 / std::sqrt(static_cast<float>(c.head_dim))};
  }
  void attend_rows(const Attend<T>& attention, const Rows& rows, bool prompt) const {
    if constexpr (!std::is_same_v<T, float>) {
      if (prompt && sm >= 80) return attend_prompt(attention, rows, slots(), stream);
    }
    attend(attention, rows, slots(), stream);
  }
  // All layers. x holds the rows that leave the last one.
  void queue_layers(const Rows& rows, int count, const Plans& plans, bool prompt = false) const {
    const Config& c = config;
    embed(tokens, positions, rows, x, count, c.vocab, c.width, stream);
    const auto with_bias = [&](auto& p, const T* bias, Epilogue with, Epilogue without) {
      p.epilogue = c.has_biases ? with : without;
      if (c.has_biases) p.bias = bias;
    };
    for (const DeviceLayer<T>& l : layers) {
      normalize(x, l.norm1, l.norm1_bias, normal, count);
      auto to_qkv = product(normal, l.qkv, qkv, count, c.qkv_width(), c.width);
      with_bias(to_qkv, l.qkv_bias, Epilogue::kBias, Epilogue::kNone);
      multiply(to_qkv, plans.qkv);
      const Attend<T> attention = attention_of(l, count);
      append(attention, rows, slots(), stream);
      attend_rows(attention, rows, prompt);
      auto proj = product(attended, l.proj, x, count, c.width, c.q_width());
      with_bias(proj, l.proj_bias, Epilogue::kBiasResidual, Epilogue::kResidual);
      proj.residual = {x, c.width};
      multiply(proj, plans.proj);
      normalize(x, l.norm2, l.norm2_bias, normal, count);
      auto to_first = product(normal, l.first, first, count, c.first_width(), c.width);
      if (c.inner_kind == Inner::kGelu) {
        to_first.epilogue = Epilogue::kBiasGelu;
        to_first.bias = l.first_bias;
        multiply(to_first, plans.first);
      } else {
        with_bias(to_first, l.first_bias, Epilogue::kBias, Epilogue::kNone);
        multiply(to_first, plans.first);
        day44::swiglu<T>({first, inner, count, c.inner}, stream);
      }
      auto down = product(inner, l.down, x, count, c.width, c.inner);
      with_bias(down, l.down_bias, Epilogue::kBiasResidual, Epilogue::kResidual);
      down.residual = {x, c.width};
      multiply(down, plans.down);
    }
  }
  // The logits of `count` rows from `begin` on.
  void queue_logits(int begin, int count, const Plans& plans) const {
    const Config& c = config;
    normalize(x + int64_t{begin} * c.width, norm, norm_bias, normal, count);
    multiply(product(normal, output, logits, count, c.padded_vocab, c.width), plans.output);
  }
  // These, and their tokens.
  void queue_choice(const Rows& rows, int begin, int count, const Plans& plans) const {
    const Config& c = config;
    queue_logits(begin, count, plans);
    choose(logits, c.padded_vocab, c.vocab, rows.slots + begin, rows.positions + begin, slots(), chosen,
           count, choosing, false, stream);
  }
  // The same of the last token of each text, in five kernels a layer.
  void queue_fused(const Rows& rows, int count) const {
    if constexpr (!std::is_same_v<T, float>) {
      const Config& c = config;
      const bool early = size.step >= Step::kDependent, mean = c.norm == Norm::kLayer;
      begin_step(tokens, positions, rows, slots(), x, count, c.vocab, c.width, stream);
      const auto multiplied = [&](const T* from, const Kept& w, const T* bias, T* to, Finish finish, int out,
                                  int in, const T* gamma = nullptr, const T* beta = nullptr) {
        multiply_few<T>({.x = from,
                         .gamma = gamma,
                         .beta = mean ? beta : nullptr,
                         .eps = c.eps,
                         .w = w,
                         .bias = c.has_biases ? bias : nullptr,
                         .y = to,
                         .finish = finish,
                         .m = count,
                         .n = out,
                         .k = in},
                        early, stream);
      };
      for (const DeviceLayer<T>& l : layers) {
        multiplied(x, l.few_qkv, l.qkv_bias, qkv, Finish::kStore, c.qkv_width(), c.width, l.norm1,
                   l.norm1_bias);
        attend_step<T>(attention_of(l, count), rows, slots(), parts, early, stream);
        multiplied(attended, l.few_proj, l.proj_bias, x, Finish::kAdd, c.width, c.q_width());
        const bool gelu = c.inner_kind == Inner::kGelu;
        multiplied(x, l.few_first, l.first_bias, inner, gelu ? Finish::kGelu : Finish::kGate, c.inner,
                   c.width, l.norm2, l.norm2_bias);
        multiplied(inner, l.few_down, l.down_bias, x, Finish::kAdd, c.width, c.inner);
      }
      multiply_few<T>({.x = x,
                       .gamma = norm,
                       .beta = mean ? norm_bias : nullptr,
                       .eps = c.eps,
                       .w = few_output,
                       .logits = logits,
                       .m = count,
                       .n = c.padded_vocab,
                       .k = c.width},
                      early, stream);
      choose(logits, c.padded_vocab, c.vocab, rows.slots, rows.positions, slots(), chosen, count, choosing,
             early, stream);
    }
  }
  void queue_decode(int count) const {
    const Rows rows{there.row_slots(), decode_tokens, decode_positions};
    if (fused()) return queue_fused(rows, count);
    if (persistent != nullptr) {
      persistent->queue(rows.slots, logits, rows.positions, stream);
      choose(logits, config.padded_vocab, config.vocab, rows.slots, rows.positions, slots(), chosen, count,
             choosing, false, stream);
      return;
    }
    take_last(rows, slots(), count, stream);
    queue_layers(rows, count, of_decode);
    queue_choice(rows, 0, count, of_decode);
  }

  // ---- what the host keeps of a text ----

  struct Text {
    bool used = false;
    int begin = 0;                // where the prompt stands in the text
    std::vector<int32_t> prompt;  // what was added last
    int length = 0;               // in the cache
    int32_t last = -1;            // the token behind these
    std::vector<int32_t> pages;
    int row = -1;  // of the logits, where the last step gave it a token
    bool ready() const { return used && length >= begin + static_cast<int>(prompt.size()); }
  };
  bool decodes(const Text& text) const { return text.ready() && text.length < config.context; }
  // Whether its next token begins a page.
  static bool wants_page(const Text& text) {
    return text.length == kPage * static_cast<int>(text.pages.size());
  }
  void take_page(int slot) {
    Text& text = texts[static_cast<size_t>(slot)];
    here.table()[int64_t{slot} * most_pages + std::ssize(text.pages)] = free_pages.back();
    text.pages.push_back(free_pages.back());
    free_pages.pop_back();
    changed = true;
  }
  Text& text_of(int slot) {
    days::require(slot >= 0 && slot < size.sequences && texts[static_cast<size_t>(slot)].used,
                  "no text has the slot", slot);
    return texts[static_cast<size_t>(slot)];
  }
  void require_tokens(std::span<const int32_t> tokens) const {
    for (const int32_t token : tokens)
      days::require(token >= 0 && token < config.vocab, "a token is none of the vocabulary:", token);
  }
  void say() {
    if (!changed) return;
    CUDA_CHECK(cudaMemcpyAsync(there.data, here.data, here.bytes(), cudaMemcpyHostToDevice, stream));
    changed = false;
  }
  void forget_rows() {
    for (Text& text : texts) text.row = -1;
  }

  Config config;
  Size size;
  int most_pages = 0, pages = 0, most_rows = 0;
  int sm = model::target_here().sm;
  bool tied = true, has_places = false;
  days::Stream stream;
  days::DeviceMemory arena;
  size_t used = 0;

  T *tokens = nullptr, *positions = nullptr, *output = nullptr, *norm = nullptr, *norm_bias = nullptr;
  std::vector<DeviceLayer<T>> layers;
  float* frequency = nullptr;
  Said there;
  int32_t *last = nullptr, *prompt_rows = nullptr, *decode_tokens = nullptr, *decode_positions = nullptr,
          *chosen = nullptr;
  T *x = nullptr, *normal = nullptr, *qkv = nullptr, *attended = nullptr, *first = nullptr, *inner = nullptr;
  float *mean = nullptr, *rstd = nullptr, *logits = nullptr;
  days::Workspace workspace;
  ChooseMemory choosing{};
  Kept few_output;  // of a fused step
  Parts parts;
  double squares = 0, squares_off = 0;  // of weights with fewer bits, and of what they lack
  Plans of_decode, of_prompt;

  std::unique_ptr<days::PinnedBuffer<char>> pinned;
  std::unique_ptr<days::PinnedBuffer<int32_t>> pinned_rows, pinned_chosen;
  Said here;
  bool changed = true;
  std::vector<Text> texts;
  std::vector<int32_t> free_pages, free_slots;
  std::deque<int> waiting;  // slots whose prompts are not computed
  std::unique_ptr<Persistent<T>> persistent;
  struct Captured {
    int rows;
    std::unique_ptr<days::Graph> graph;
  };
  std::vector<Captured> graphs;
};

template <class T>
Generator<T>::Generator(const Model& model, const Size& size)
    : state_(std::make_unique<State>(model, size)) {}
template <class T>
Generator<T>::~Generator() = default;

template <class T>
const Config& Generator<T>::config() const {
  return state_->config;
}
template <class T>
size_t Generator<T>::bytes() const {
  return state_->used;
}
template <class T>
std::string Generator<T>::lacks(const Config& config, Step step) {
  return State::lacks(config, step);
}
template <class T>
Step Generator<T>::step() const {
  return state_->size.step;
}
template <class T>
int Generator<T>::launches(int texts) const {
  const State& s = *state_;
  days::require(texts > 0 && texts <= s.size.sequences, "a step is of 1 text or more, and not of", texts);
  const days::Graph graph(s.stream, [&] { s.queue_decode(texts); });
  return graph.kernels();
}
template <class T>
double Generator<T>::step_bytes(int texts, int length) const {
  const State& s = *state_;
  const Config& c = s.config;
  const double element = sizeof(T);
  // A group of 128 has 4 bits each and a scale; a row of 8 bits has a scale in fp32.
  const auto matrix = [&](double out, double in) {
    return out * (s.quantized() ? in / 2 + std::ceil(in / 128) * element : in * element);
  };
  const double width = c.width, inner = c.inner,
               layer = matrix(c.qkv_width(), width) + matrix(width, c.q_width()) +
                       matrix(c.first_width(), width) + matrix(width, inner);
  const double output = c.padded_vocab * (s.quantized() ? width + 4 : width * element);
  return c.layers * layer + output + element * 2 * c.layers * c.kv_heads * c.head_dim * texts * length;
}
template <class T>
double Generator<T>::quantization_error() const {
  return state_->squares > 0 ? std::sqrt(state_->squares_off / state_->squares) : 0;
}
template <class T>
int Generator<T>::free_slots() const {
  return static_cast<int>(state_->free_slots.size());
}
template <class T>
int Generator<T>::free_pages() const {
  return static_cast<int>(state_->free_pages.size());
}

template <class T>
void Generator<T>::require_text(std::span<const int32_t> prompt, const Sampling& sampling) const {
  const State& s = *state_;
  require_sampling(sampling);
  days::require(!prompt.empty(), "a prompt has at least one token");
  days::require(std::ssize(prompt) <= s.config.context, "a prompt has at most the context's tokens,",
                s.config.context, "; it has", prompt.size());
  s.require_tokens(prompt);
  const int wanted = days::ceil_div(static_cast<int>(prompt.size()), kPage);
  days::require(wanted <= s.pages, "a prompt needs more pages than there are:", wanted);
}

template <class T>
std::optional<int> Generator<T>::add(std::span<const int32_t> prompt, const Sampling& sampling) {
  require_text(prompt, sampling);
  State& s = *state_;
  const int wanted = days::ceil_div(static_cast<int>(prompt.size()), kPage);
  if (s.free_slots.empty() || wanted > free_pages()) return std::nullopt;
  const int slot = s.free_slots.back();
  s.free_slots.pop_back();
  typename State::Text& text = s.texts[static_cast<size_t>(slot)];
  text.used = true;
  text.prompt.assign(prompt.begin(), prompt.end());
  text.begin = text.length = 0;
  text.last = text.row = -1;
  for (int i = 0; i < wanted; ++i) s.take_page(slot);
  s.here.choices()[slot] = {sampling.seed, sampling.temperature, sampling.top_p, sampling.top_k};
  s.changed = true;
  s.waiting.push_back(slot);
  return slot;
}

template <class T>
bool Generator<T>::extend(int slot, std::span<const int32_t> tokens) {
  State& s = *state_;
  typename State::Text& text = s.text_of(slot);
  days::require(text.ready() && text.last >= 0, "a prompt waits, or no token came, in the slot", slot);
  s.require_tokens(tokens);
  const int64_t all = text.length + 1 + std::ssize(tokens);
  days::require(all <= s.config.context, "a text has at most the context's tokens,", s.config.context,
                "; it would have", all);
  const int wanted = days::ceil_div(static_cast<int>(all), kPage) - static_cast<int>(text.pages.size());
  if (wanted > free_pages()) return false;
  for (int i = 0; i < wanted; ++i) s.take_page(slot);
  text.begin = text.length;
  text.prompt.assign(1, text.last);
  text.prompt.insert(text.prompt.end(), tokens.begin(), tokens.end());
  s.waiting.push_back(slot);
  return true;
}

template <class T>
void Generator<T>::remove(int slot) {
  State& s = *state_;
  typename State::Text& text = s.text_of(slot);
  text.used = false;
  for (const int32_t page : text.pages) s.free_pages.push_back(page);
  text.pages.clear();
  s.free_slots.push_back(slot);
  std::erase(s.waiting, slot);
}

template <class T>
bool Generator<T>::has_prompts() const {
  return !state_->waiting.empty();
}

template <class T>
std::optional<Token> Generator<T>::prefill() {
  State& s = *state_;
  if (s.waiting.empty()) return std::nullopt;
  s.forget_rows();
  const int slot = s.waiting.front();
  typename State::Text& text = s.texts[static_cast<size_t>(slot)];
  const int count = std::min(s.size.chunk, text.begin + static_cast<int>(text.prompt.size()) - text.length);
  const int most = s.most_rows;
  int32_t* const rows = s.pinned_rows->data();
  for (int i = 0; i < count; ++i) {
    rows[i] = slot;
    rows[most + i] = text.prompt[static_cast<size_t>(text.length - text.begin + i)];
    rows[2 * most + i] = text.length + i;
  }
  s.say();
  CUDA_CHECK(cudaMemcpyAsync(s.prompt_rows, rows, 3 * static_cast<size_t>(most) * sizeof(int32_t),
                             cudaMemcpyHostToDevice, s.stream));
  const Rows on_device{s.prompt_rows, s.prompt_rows + most, s.prompt_rows + 2 * most};
  s.queue_layers(on_device, count, s.of_prompt, true);
  text.length += count;
  std::optional<Token> first;
  if (text.ready()) {
    // By the plans of a decode step: the row count is one of its own.
    s.queue_choice(on_device, count - 1, 1, s.of_decode);
  }
  CUDA_CHECK(cudaStreamSynchronize(s.stream));
  if (text.ready()) {
    s.here.lengths()[slot] = text.length;
    text.row = 0;
    s.waiting.pop_front();
    text.last = (*s.pinned_chosen)[0];
    first = {slot, text.last};
  }
  return first;
}

template <class T>
int Generator<T>::missing_pages() const {
  int wanted = 0;
  for (const typename State::Text& text : state_->texts)
    wanted += state_->decodes(text) && State::wants_page(text) ? 1 : 0;
  return std::max(0, wanted - free_pages());
}

template <class T>
std::vector<Token> Generator<T>::decode() {
  State& s = *state_;
  days::require(missing_pages() == 0, "a step needs pages that are not free:", missing_pages());
  s.forget_rows();
  std::vector<Token> tokens;
  for (int slot = 0; slot < s.size.sequences; ++slot) {
    typename State::Text& text = s.texts[static_cast<size_t>(slot)];
    if (!s.decodes(text)) continue;
    if (State::wants_page(text)) s.take_page(slot);
    text.row = static_cast<int>(tokens.size());
    tokens.push_back({slot, -1});
  }
  if (tokens.empty()) return tokens;
  const auto count = static_cast<int>(tokens.size());
  for (int row = 0; row < s.size.sequences; ++row) {
    const int32_t slot = row < count ? tokens[static_cast<size_t>(row)].slot : -1;
    s.changed = s.changed || s.here.row_slots()[row] != slot;
    s.here.row_slots()[row] = slot;
  }
  s.say();
  if (s.size.step != Step::kCached) {
    const auto fits = [&](const auto& captured) { return captured.rows >= count; };
    std::find_if(s.graphs.begin(), s.graphs.end(), fits)->graph->launch(s.stream);
  } else {
    s.queue_decode(count);
  }
  CUDA_CHECK(cudaStreamSynchronize(s.stream));
  for (Token& one : tokens) {
    typename State::Text& text = s.texts[static_cast<size_t>(one.slot)];
    text.last = one.token = (*s.pinned_chosen)[static_cast<size_t>(text.row)];
    s.here.lengths()[one.slot] = ++text.length;
  }
  return tokens;
}

template <class T>
int Generator<T>::length(int slot) const {
  return state_->text_of(slot).length;
}

template <class T>
std::vector<float> Generator<T>::logits(int slot) const {
  State& s = *state_;
  const int row = s.text_of(slot).row;
  days::require(row >= 0, "the last step gave no token to the slot", slot);
  std::vector<float> values(static_cast<size_t>(s.config.vocab));
  CUDA_CHECK(cudaMemcpyAsync(values.data(), s.logits + int64_t{row} * s.config.padded_vocab,
                             values.size() * sizeof(float), cudaMemcpyDeviceToHost, s.stream));
  CUDA_CHECK(cudaStreamSynchronize(s.stream));
  return values;
}

template <class T>
std::vector<double> Generator<T>::log_chances(std::span<const int32_t> tokens) {
  State& s = *state_;
  days::require(s.waiting.empty(), "prompts wait:", s.waiting.size());
  const auto slot = add(tokens, {});
  days::require(slot.has_value(),
                "no slot, or not enough pages, are free for so many tokens:", tokens.size());
  std::vector<double> found;
  const auto pitch = static_cast<size_t>(s.config.padded_vocab), vocab = static_cast<size_t>(s.config.vocab);
  std::vector<float> rows(static_cast<size_t>(s.size.sequences) * pitch);
  for (size_t at = 0; at < tokens.size();) {
    static_cast<void>(prefill());
    const auto end = static_cast<size_t>(length(*slot));
    // The chunk's rows are still there.
    for (const size_t begin = at; at < end;) {
      const auto count = static_cast<int>(std::min(end - at, static_cast<size_t>(s.size.sequences)));
      s.queue_logits(static_cast<int>(at - begin), count, s.of_decode);
      CUDA_CHECK(cudaMemcpyAsync(rows.data(), s.logits, static_cast<size_t>(count) * pitch * sizeof(float),
                                 cudaMemcpyDeviceToHost, s.stream));
      CUDA_CHECK(cudaStreamSynchronize(s.stream));
      for (const float* row = rows.data(); row < rows.data() + static_cast<size_t>(count) * pitch;
           row += pitch) {
        if (++at == tokens.size()) break;
        const double greatest = static_cast<double>(*std::max_element(row, row + vocab));
        double sum = 0;
        for (size_t i = 0; i < vocab; ++i) sum += std::exp(static_cast<double>(row[i]) - greatest);
        found.push_back(static_cast<double>(row[tokens[at]]) - greatest - std::log(sum));
      }
    }
  }
  remove(*slot);
  return found;
}

template class Generator<float>;
template class Generator<days::half>;
template class Generator<days::bf16>;

}  // namespace serve
