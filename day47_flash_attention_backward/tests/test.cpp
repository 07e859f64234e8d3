// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/random.h"
#include "common/testing.h"
#include "day47_flash_attention_backward/backward.h"

namespace day47 {
namespace {

using days::DeviceBuffer;

// A problem on the host whose o and lse its forward pass made.
template <class T>
struct Host {
  std::vector<T> q, k, v, o, dout, dq, dk, dv;
  std::vector<float> lse;
  AttentionBackward<T> p{};

  Host(int heads, int kv_heads, int seq_q, int seq_k, int dim, bool causal) {
    p.batch = 1;
    p.heads = heads;
    p.kv_heads = kv_heads;
    p.seq_q = seq_q;
    p.seq_k = seq_k;
    p.dim = dim;
    p.scale = 1 / std::sqrt(static_cast<float>(dim));
    p.causal = causal;
    p.of_q = p.of_o = days::packed_rows(heads, seq_q, dim);
    p.of_kv = days::packed_rows(kv_heads, seq_k, dim);
    const size_t queries = static_cast<size_t>(heads * seq_q * dim),
                 keys = static_cast<size_t>(kv_heads * seq_k * dim);
    uint64_t seed = 470;
    for (std::vector<T>* array : {&q, &dout, &k, &v}) {
      array->resize(array == &q || array == &dout ? queries : keys);
      ++seed;
      for (size_t i = 0; i < array->size(); ++i)
        (*array)[i] = days::from_double<T>(static_cast<double>(days::normal(seed, i)));
    }
    o = dq = q;
    dk = dv = k;
    lse.resize(static_cast<size_t>(heads * seq_q));
    p.q = q.data();
    p.k = k.data();
    p.v = v.data();
    p.o = o.data();
    p.dout = dout.data();
    p.lse = lse.data();
    p.dq = dq.data();
    p.dk = dk.data();
    p.dv = dv.data();
    forward();
  }
  void forward() { days::attention_forward(p, o.data(), lse.data()); }
};

// The note's example, in 2 of 64 columns.
TEST(Day47Reference, TheNotesExample) {
  Host<double> h(1, 1, 1, 2, 64, false);
  const auto put = [](std::vector<double>& array, std::vector<double> rows) {
    std::fill(array.begin(), array.end(), 0.0);
    for (size_t i = 0; i < rows.size(); ++i) array[i / 2 * 64 + i % 2] = rows[i];
  };
  put(h.q, {1, 0});
  put(h.k, {2, 0, 1, 5});
  put(h.v, {10, 20, 30, 40});
  put(h.dout, {1, 0});
  h.p.scale = 1;
  h.forward();
  attention_backward_reference(h.p);
  const auto is = [](const std::vector<double>& array, std::vector<double> rows) {
    for (size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(array[i / 2 * 64 + i % 2], rows[i], 0.001) << i;
  };
  is(h.dq, {-3.932, 19.661});
  is(h.dk, {-3.932, 0, 3.932, 0});
  is(h.dv, {0.731, 0, 0.269, 0});
}

// The gradients of sum(dout * o) by differences of a double forward pass.
TEST(Day47Reference, FiniteDifferences) {
  for (const bool causal : {false, true}) {
    Host<double> h(4, 2, 9, 7, 64, causal);
    attention_backward_reference(h.p);
    const auto loss = [&] {
      h.forward();
      double sum = 0;
      for (size_t i = 0; i < h.o.size(); ++i) sum += h.o[i] * h.dout[i];
      return sum;
    };
    const auto check = [&](std::vector<double>& of, const std::vector<double>& gradient, const char* name) {
      for (size_t i = 3; i < of.size(); i += 61) {
        const double kept = of[i], step = 1e-4;
        of[i] = kept + step;
        const double above = loss();
        of[i] = kept - step;
        const double below = loss();
        of[i] = kept;
        // lse is a float, so the weights are right to some 1e-7.
        EXPECT_NEAR(gradient[i], (above - below) / (2 * step), 3e-6)
            << name << "[" << i << "], causal " << causal;
      }
    };
    check(h.q, h.dq, "dq");
    check(h.k, h.dk, "dk");
    check(h.v, h.dv, "dv");
  }
}

TEST(Day47Refuses, WhatIsNoProblem) {
  alignas(16) static days::half x[128 * 64] = {};
  alignas(16) static char workspace[1 << 16];
  const float lse = 0;
  const days::Pitches rows = days::packed_rows(2, 1, 64);
  const AttentionBackward<days::half> good = {x, x, x,    x,    x,      &lse,  x,
                                              x, x, rows, rows, rows,   1,     2,
                                              2, 1, 1,    64,   0.125f, false, {workspace, sizeof workspace}};
  for (const auto& variant : days::variants<AttentionBackward<days::half>>("backward")) {
    const auto refused = [&](auto change) {
      AttentionBackward<days::half> p = good;
      change(p);
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name;
    };
    for (const int dim : {0, 32, 63, 96, 256}) refused([dim](auto& p) { p.dim = dim; });
    for (const float scale : {0.0f, -1.0f, INFINITY, NAN}) refused([scale](auto& p) { p.scale = scale; });
    for (const int kv_heads : {0, -1, 3, 4}) refused([kv_heads](auto& p) { p.kv_heads = kv_heads; });
    refused([](auto& p) {  // more blocks than a grid has, whatever a block takes
      p.batch = p.heads = p.kv_heads = 1 << 20;
      p.seq_q = p.seq_k = 1 << 20;
      p.workspace.bytes = SIZE_MAX;
    });
    if (variant.name == "naive") continue;
    // Vectors of 16 bytes are moved by all others: no array may begin between them, and no row.
    refused([](auto& p) { ++p.q; });
    refused([](auto& p) { p.dv += 4; });
    refused([](auto& p) { p.of_q.token = 65; });
    refused([](auto& p) { p.of_kv.head = 68; });
    refused([](auto& p) { p.of_o.batch = 4; });
  }
}

// Nothing depends on which block or thread comes first, but for the dq of `keys`, whose atomic additions do. The same bits in 20
// runs, on a CPU in three orders.
template <class T>
void same_bits() {
  const Host<T> h(4, 2, 150, 170, 64, true);
  AttentionBackward<T> p = h.p;
  const DeviceBuffer<T> q(h.q), k(h.k), v(h.v), o(h.o), dout(h.dout), dq(h.q.size()), dk(h.k.size()),
      dv(h.k.size());
  const DeviceBuffer<float> lse(h.lse);
  const DeviceBuffer<unsigned char> workspace(keys_workspace(p));
  p.q = q.data();
  p.k = k.data();
  p.v = v.data();
  p.o = o.data();
  p.dout = dout.data();
  p.lse = lse.data();
  p.dq = dq.data();
  p.dk = dk.data();
  p.dv = dv.data();
  p.workspace = {workspace.data(), keys_workspace(p)};
  for (const auto& variant : days::variants<AttentionBackward<T>>("backward")) {
    if (!variant.runs_here) continue;
    std::vector<std::vector<T>> first;
    for (int run = 0; run < days::kRunsInOrder / (variant.name == "apart" ? 1 : 2); ++run) {
      const days::InOrder order(run);
      variant.launch(p);
      CUDA_CHECK(cudaDeviceSynchronize());
      const std::vector<std::vector<T>> got = {dk.download(), dv.download(), dq.download()};
      if (run == 0) first = got;
      for (size_t i = 0; i < got.size() - (variant.name == "keys" ? 1 : 0); ++i)
        EXPECT_EQ(std::memcmp(got[i].data(), first[i].data(), got[i].size() * sizeof(T)), 0)
            << variant.name << ", run " << run << ", output " << i;
    }
  }
}
TEST(Day47SameBits, Halves) {
  same_bits<days::half>();
}
TEST(Day47SameBits, Floats) {
  same_bits<float>();
}

// What stands in for the reference where that would take too long.
TEST(Day47CheckLarge, FindsWhatIsWrong) {
  Host<days::half> h(4, 2, 60, 70, 64, true);
  attention_backward_reference(h.p);
  const auto good = [&] { return attention_backward_check_large(h.p).ok(); };
  EXPECT_TRUE(good()) << attention_backward_check_large(h.p).text();
  for (std::vector<days::half>* array : {&h.dq, &h.dk, &h.dv}) {
    for (const size_t at : {size_t{0}, size_t{60 * 64 + 1}, array->size() - 1}) {
      const days::half kept = (*array)[at];
      for (const float wrong : {NAN, 1000.0f, -1000.0f}) {
        (*array)[at] = days::from_float<days::half>(wrong);
        EXPECT_FALSE(good()) << at << " is " << wrong;
      }
      (*array)[at] = kept;
    }
    const std::vector<days::half> kept = *array;
    for (days::half& x : *array) x = days::from_float<days::half>(1.03f * days::to_float(x));
    EXPECT_FALSE(good()) << "3% too large";
    *array = kept;
  }
  EXPECT_TRUE(good());
}

}  // namespace
}  // namespace day47
