// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/graph.h"
#include "common/stream.h"
#include "common/testing.h"
#include "day49_kv_cache/decode.h"

namespace day49 {
namespace {

using days::half;

// A problem on the host, and a variant's result of it. Row `length` and what follows are NaN until they are written.
template <class T>
struct Case {
  int batch, heads, kv_heads, capacity, dim;
  std::vector<int32_t> lengths;
  std::vector<T> q, k_new, v_new, k, v, o;
  std::vector<float> lse;

  Case(int batch, int heads, int kv_heads, int capacity, int dim, std::vector<int32_t> lengths)
      : batch(batch),
        heads(heads),
        kv_heads(kv_heads),
        capacity(capacity),
        dim(dim),
        lengths(std::move(lengths)),
        q(size(1, heads)),
        k_new(size(1, kv_heads)),
        v_new(size(1, kv_heads)),
        k(size(capacity, kv_heads)),
        v(size(capacity, kv_heads)),
        o(size(1, heads)),
        lse(static_cast<size_t>(batch) * static_cast<size_t>(heads)) {
    fill(q, 401);
    fill(k_new, 402);
    fill(v_new, 403);
    fill(k, 404);
    fill(v, 405);
    for (size_t i = 0; i < k.size(); ++i) {
      const size_t row = i / static_cast<size_t>(dim), of_head = static_cast<size_t>(capacity);
      const size_t b = row / of_head / static_cast<size_t>(kv_heads);
      if (static_cast<int64_t>(row % of_head) >= this->lengths[b]) k[i] = v[i] = days::from_float<T>(NAN);
    }
  }
  size_t size(int rows, int of) const {
    return static_cast<size_t>(batch) * static_cast<size_t>(of) * static_cast<size_t>(rows) *
           static_cast<size_t>(dim);
  }
  static void fill(std::vector<T>& to, uint64_t seed) {
    for (size_t i = 0; i < to.size(); ++i) to[i] = days::from_float<T>(days::normal(seed, i));
  }
  // Sequence b by itself.
  Case alone(int b) const {
    Case one = *this;
    one.batch = 1;
    one.lengths = {lengths[static_cast<size_t>(b)]};
    const auto part = [&](auto& of) {
      const size_t each = of.size() / static_cast<size_t>(batch), first = static_cast<size_t>(b) * each;
      of = {of.begin() + static_cast<std::ptrdiff_t>(first),
            of.begin() + static_cast<std::ptrdiff_t>(first + each)};
    };
    part(one.q), part(one.k_new), part(one.v_new), part(one.k), part(one.v), part(one.o), part(one.lse);
    return one;
  }
  // On whichever pointers: the case's own, or a device's copies.
  Decode<T> problem() {
    return {q.data(),
            k_new.data(),
            v_new.data(),
            k.data(),
            v.data(),
            lengths.data(),
            o.data(),
            lse.data(),
            batch,
            heads,
            kv_heads,
            capacity,
            dim,
            0.125f,
            days::dense_pitch(heads, dim),
            days::dense_pitch(kv_heads, dim),
            days::dense_pitch(heads, dim),
            {},
            {}};
  }
};

// A case's arrays on the device, and all that a launch of any rung wants.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(Case<T>& c)
      : case_(c),
        q_(c.q),
        k_new_(c.k_new),
        v_new_(c.v_new),
        k_(c.k),
        v_(c.v),
        lengths_(c.lengths),
        o_(c.o),
        lse_(c.lse) {
    p = c.problem();
    p.q = q_.data();
    p.k_new = k_new_.data();
    p.v_new = v_new_.data();
    p.k = k_.data();
    p.v = v_.data();
    p.lengths = lengths_.data();
    p.o = o_.data();
    p.lse = lse_.data();
    scratch_ = days::DeviceMemory(ticket_workspace(p));
    p.workspace = {scratch_.data(), scratch_.bytes()};
    made_ = decode_tickets(p, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    p.setup = days::Setup(&made_, &days::detail::kStateTag<Tickets>);
  }
  // Puts what is in the case there; takes what has become of it.
  void upload() {
    copy(k_.data(), case_.k.data(), case_.k);
    copy(v_.data(), case_.v.data(), case_.v);
    copy(lengths_.data(), case_.lengths.data(), case_.lengths);
  }
  void download() {
    CUDA_CHECK(cudaDeviceSynchronize());
    copy(case_.k.data(), k_.data(), case_.k);
    copy(case_.v.data(), v_.data(), case_.v);
    copy(case_.o.data(), o_.data(), case_.o);
    copy(case_.lse.data(), lse_.data(), case_.lse);
  }

  Decode<T> p;

 private:
  template <class E>
  struct Array {
    days::DeviceMemory memory;
    explicit Array(const std::vector<E>& from) : memory(from.size() * sizeof(E)) {
      copy(data(), from.data(), from);
    }
    E* data() const { return static_cast<E*>(memory.data()); }
  };
  template <class E>
  static void copy(void* to, const void* from, const std::vector<E>& like) {
    CUDA_CHECK(cudaMemcpy(to, from, like.size() * sizeof(E), cudaMemcpyDefault));
  }

  Case<T>& case_;
  Array<T> q_, k_new_, v_new_, k_, v_;
  Array<int32_t> lengths_;
  Array<T> o_;
  Array<float> lse_;
  days::DeviceMemory scratch_;
  Tickets made_;
};

template <class E>
bool same_bits(const std::vector<E>& a, const std::vector<E>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(E)) == 0;
}

// What a sequence gets depends on nobody else in the batch, on no order of blocks, and on no launch before: to the bit.
TEST(Day49, ASequenceAloneHasTheBitsThatItHasInABatch) {
  for (const auto& variant : days::variants<Decode<half>>("decode")) {
    if (!variant.runs_here) continue;
    const Case<half> start(3, 2, 2, 600, 64, {599, 0, 300});
    Case<half> batch = start;
    OnDevice<half> device(batch);
    variant.launch(device.p);
    device.download();
    for (int turn = 0; turn < 3; ++turn) {
      const days::InOrder order(turn);
      for (int b = 0; b < 3; ++b) {
        Case<half> alone = start.alone(b);
        OnDevice<half> by_itself(alone);
        variant.launch(by_itself.p);
        by_itself.download();
        const Case<half> want = batch.alone(b);
        EXPECT_TRUE(same_bits(alone.o, want.o)) << variant.name << ", sequence " << b << ", order " << turn;
        EXPECT_TRUE(same_bits(alone.lse, want.lse))
            << variant.name << ", sequence " << b << ", order " << turn;
      }
    }
  }
}

// A graph is captured once; the lengths that it finds on the device when it runs are what counts.
TEST(Day49, ACapturedGraphServesEveryLength) {
  for (const auto& variant : days::variants<Decode<half>>("decode")) {
    if (!variant.runs_here) continue;
    Case<half> c(2, 1, 1, 300, 64, {1, 1});
    OnDevice<half> device(c);
    const days::Stream stream;
    const days::Graph graph(stream, [&] { variant.launch(device.p, stream); });
    for (const std::vector<int32_t>& lengths :
         {std::vector<int32_t>{0, 299}, std::vector<int32_t>{256, 255}, std::vector<int32_t>{300, 40}}) {
      c = Case<half>(2, 1, 1, 300, 64, lengths);
      device.upload();
      CUDA_CHECK(cudaDeviceSynchronize());
      graph.launch(stream);
      Case<half> want = c;
      days::decode_reference(want.problem());
      device.download();
      EXPECT_EQ(std::memcmp(c.k.data(), want.k.data(), c.k.size() * sizeof(half)), 0) << variant.name;
      EXPECT_EQ(std::memcmp(c.v.data(), want.v.data(), c.v.size() * sizeof(half)), 0) << variant.name;
      for (size_t i = 0; i < c.o.size(); ++i) {
        const float got = days::to_float(c.o[i]), right = days::to_float(want.o[i]);
        EXPECT_TRUE(std::isnan(right) ? std::isnan(got) : std::abs(got - right) <= 2e-3f)
            << variant.name << ", length " << lengths[i / 64] << ": " << got << ", not " << right;
      }
    }
  }
}

// Twenty steps, each of which finds what the ones before have left in the cache: the last is the attention of 20 tokens.
TEST(Day49, AStepFindsWhatTheStepsBeforeHaveLeft) {
  constexpr int kSteps = 20, kDim = 64;
  for (const auto& variant : days::variants<Decode<float>>("decode")) {
    if (!variant.runs_here) continue;
    Case<float> c(1, 2, 2, kSteps, kDim, {kSteps - 1});
    Case<float> want = c;
    days::decode_reference(want.problem());
    const std::vector<float> k = c.k, v = c.v, k_new = c.k_new, v_new = c.v_new;
    std::fill(c.k.begin(), c.k.end(), NAN);
    std::fill(c.v.begin(), c.v.end(), NAN);
    for (int step = 0; step < kSteps; ++step) {
      c.lengths = {step};
      for (size_t h = 0; h < 2; ++h) {
        const auto token = [&](const std::vector<float>& cached, const std::vector<float>& last,
                               std::vector<float>& to) {
          const float* from = step == kSteps - 1
                                  ? last.data() + h * kDim
                                  : cached.data() + (h * kSteps + static_cast<size_t>(step)) * kDim;
          std::copy_n(from, kDim, to.data() + h * kDim);
        };
        token(k, k_new, c.k_new);
        token(v, v_new, c.v_new);
      }
      OnDevice<float> device(c);
      variant.launch(device.p);
      device.download();
    }
    EXPECT_TRUE(same_bits(c.k, want.k)) << variant.name;
    for (size_t i = 0; i < c.o.size(); ++i) EXPECT_NEAR(c.o[i], want.o[i], 1e-5f) << variant.name;
  }
}

// Heads may share keys (day 50), and o may have gaps, which stay as they are.
TEST(Day49, GroupsOfHeadsAndGapsInO) {
  for (const auto& variant : days::variants<Decode<half>>("decode")) {
    if (!variant.runs_here) continue;
    Case<half> c(2, 6, 2, 300, 128, {299, 17});
    Case<half> want = c;
    days::decode_reference(want.problem());
    c.o.assign(2 * 6 * 192, days::from_float<half>(7));
    OnDevice<half> device(c);
    device.p.o_pitch = {6 * 192, 192};
    variant.launch(device.p);
    device.download();
    EXPECT_TRUE(same_bits(c.k, want.k)) << variant.name;
    EXPECT_TRUE(same_bits(c.v, want.v)) << variant.name;
    for (size_t i = 0; i < c.o.size(); ++i) {
      const float got = days::to_float(c.o[i]);
      const float right = i % 192 < 128 ? days::to_float(want.o[i / 192 * 128 + i % 192]) : 7;
      EXPECT_NEAR(got, right, 2e-3f) << variant.name << " at " << i;
    }
  }
}

TEST(Day49Refuses, WhatIsNoProblem) {
  Case<half> c(2, 4, 2, 8, 64, {1, 2});
  alignas(16) char scratch[1 << 16];
  const Tickets made;
  Decode<half> good = c.problem();
  good.workspace = {scratch, sizeof scratch};
  good.setup = days::Setup(&made, &days::detail::kStateTag<Tickets>);
  for (const auto& variant : days::variants<Decode<half>>("decode")) {
    const auto refused = [&](const char* what, auto change) {
      Decode<half> p = good;
      change(p);
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << ": " << what;
    };
    for (const int dim : {0, 32, 96, 256}) refused("dim", [dim](auto& p) { p.dim = dim; });
    for (const float scale : {0.0f, -1.0f, INFINITY, NAN})
      refused("scale", [scale](auto& p) { p.scale = scale; });
    for (const int kv_heads : {0, 3, 8}) refused("kv_heads", [kv_heads](auto& p) { p.kv_heads = kv_heads; });
    refused("q_pitch", [](auto& p) { p.q_pitch = {}; });
    refused("new_pitch", [](auto& p) { p.new_pitch.head = 32; });
    refused("o_pitch", [](auto& p) { p.o_pitch.sequence = 63; });
    refused("rows that are not aligned", [](auto& p) { p.q_pitch = {4 * 68 + 4, 68}; });
    refused("k that is not aligned", [](auto& p) { ++p.k; });
    refused("more blocks than a grid has", [](auto& p) {
      p.batch = p.heads = p.kv_heads = 1 << 20;
      p.q_pitch = p.new_pitch = p.o_pitch = days::dense_pitch(p.heads, p.dim);
      p.workspace.bytes = SIZE_MAX;
    });
    if (variant.name == "block" || variant.name == "warps") continue;
    refused("no workspace", [](auto& p) { p.workspace = {}; });
    if (variant.name != "split") refused("not set up", [](auto& p) { p.setup = {}; });
  }
  Decode<half> small = good;
  small.workspace.bytes = ticket_workspace(small) - 1;
  EXPECT_THROW(decode_tickets(small, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace day49
