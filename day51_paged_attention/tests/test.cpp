// SPDX-License-Identifier: MIT
//
// The day's ladder is tested by itself, and its wrong kernels are in wrong.cu. Here is the rest: bits, graphs, refusals.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/graph.h"
#include "common/random.h"
#include "common/stream.h"
#include "common/testing.h"
#include "day51_paged_attention/paged_attention.h"

namespace day51 {
namespace {

using days::DeviceBuffer;
using T = days::half;

const bool kAppendIsGiven = days::skeleton_is_given(
    "paged_attention", "the append, and the writing of an attention to no key", [](const days::Shape& s) {
      const int64_t o = s[0] * s[1] * s[5], lse = s[0] * s[1], added = 2 * s[0] * s[2] * s[5];
      return days::Given{static_cast<size_t>(o + lse + added), false};
    });

// 32 sequences of 0 to 600 rows in pages of 12, each row and each query by its sequence's number and its own.
struct Batch {
  static constexpr int kHeads = 5, kKvHeads = 1, kDim = 64, kPage = 12, kMostPages = 51, kSequences = 32;
  static constexpr size_t kRow = size_t{kKvHeads} * kDim;

  std::vector<int> ids;
  std::vector<int32_t> table, lengths;
  std::vector<T> q, k, v, added;
  int pages;

  static int length(int id) {
    return id == 3   ? 0
           : id == 5 ? 600
                     : static_cast<int>(days::uniform_integer(51, static_cast<uint64_t>(id), 0, 601));
  }
  static T value(int array, int id, size_t i) {
    return days::from_float<T>(static_cast<float>(days::normal(static_cast<uint64_t>(1000 * array + id), i)));
  }

  // Pages are handed out in the order that `seed` makes; what nobody uses is NaN.
  Batch(std::vector<int> sequences, uint64_t seed) : ids(std::move(sequences)) {
    pages = static_cast<int>(ids.size()) * kMostPages;
    std::vector<int32_t> free(static_cast<size_t>(pages));
    std::iota(free.begin(), free.end(), 0);
    for (size_t i = free.size(); i-- > 1;)
      std::swap(free[i],
                free[static_cast<size_t>(days::uniform_integer(seed, i, 0, static_cast<int64_t>(i) + 1))]);
    table.assign(static_cast<size_t>(pages), -1);
    k.assign(static_cast<size_t>(pages) * kPage * kRow, days::from_float<T>(NAN));
    v = k;
    size_t next = 0;
    for (size_t s = 0; s < ids.size(); ++s) {
      lengths.push_back(length(ids[s]));
      for (int row = 0; row <= lengths[s]; ++row) {
        int32_t& page = table[s * kMostPages + static_cast<size_t>(row / kPage)];
        if (row % kPage == 0) page = free[next++];
        if (row == lengths[s]) break;
        for (size_t i = 0; i < kRow; ++i) {
          const size_t to = (static_cast<size_t>(page) * kPage + static_cast<size_t>(row % kPage)) * kRow + i;
          k[to] = value(1, ids[s], static_cast<size_t>(row) * kRow + i);
          v[to] = value(2, ids[s], static_cast<size_t>(row) * kRow + i);
        }
      }
      for (size_t i = 0; i < size_t{kHeads} * kDim; ++i) q.push_back(value(3, ids[s], i));
      for (size_t i = 0; i < kRow; ++i) added.push_back(value(4, ids[s], i));
    }
  }
};

// A batch on the device.
struct OnDevice {
  DeviceBuffer<T> q, k, v, added, o;
  DeviceBuffer<int32_t> table, lengths;
  DeviceBuffer<float> lse;
  DeviceBuffer<unsigned char> memory;
  PagedDecode<T> p{};

  explicit OnDevice(const Batch& b)
      : q(b.q),
        k(b.k),
        v(b.v),
        added(b.added),
        o(b.q.size()),
        table(b.table),
        lengths(b.lengths),
        lse(b.ids.size() * Batch::kHeads) {
    p.q = q.data();
    p.k_new = p.v_new = added.data();
    p.k = k.data();
    p.v = v.data();
    p.table = table.data();
    p.lengths = lengths.data();
    p.o = o.data();
    p.lse = lse.data();
    p.sequences = static_cast<int>(b.ids.size());
    p.heads = Batch::kHeads;
    p.kv_heads = Batch::kKvHeads;
    p.dim = Batch::kDim;
    p.page = Batch::kPage;
    p.most_pages = Batch::kMostPages;
    p.pages = b.pages;
    p.scale = 0.125f;
    p.q_pitch = p.o_pitch = days::dense_pitch(Batch::kHeads, Batch::kDim);
    p.new_pitch = days::dense_pitch(Batch::kKvHeads, Batch::kDim);
    memory = DeviceBuffer<unsigned char>(partials_workspace(p));
    p.workspace = {memory.data(), partials_workspace(p)};
  }

  // o and lse of a sequence, bit for bit.
  std::string bits(size_t s) const {
    const std::vector<T> all = o.download();
    const std::vector<float> logs = lse.download();
    std::string text(reinterpret_cast<const char*>(all.data() + s * Batch::kHeads * Batch::kDim),
                     sizeof(T) * Batch::kHeads * Batch::kDim);
    return text.append(reinterpret_cast<const char*>(logs.data() + s * Batch::kHeads),
                       sizeof(float) * Batch::kHeads);
  }
};

// The bits of a sequence depend neither on the 31 others, nor on its place among them, nor on where its pages lie, nor on the order
// in which blocks come.
TEST(Day51Bits, AreTheSequencesOwn) {
  std::vector<int> all(Batch::kSequences);
  std::iota(all.begin(), all.end(), 0);
  const Batch together(all, 1), shuffled(std::vector<int>(all.rbegin(), all.rend()), 2);
  for (const auto& variant : days::variants<PagedDecode<T>>("paged_attention")) {
    if (!variant.runs_here) continue;
    const OnDevice one(together), other(shuffled);
    variant.launch(one.p);
    {
      const days::InOrder order(1);
      variant.launch(other.p);
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    for (const int id : all) {
      const auto s = static_cast<size_t>(id);
      EXPECT_EQ(one.bits(s), other.bits(all.size() - 1 - s))
          << variant.name << ", sequence " << id << ", pages elsewhere";
    }
    for (const int id : {0, 3, 5, 31}) {
      const OnDevice alone(Batch({id}, 3));
      variant.launch(alone.p);
      CUDA_CHECK(cudaDeviceSynchronize());
      EXPECT_EQ(alone.bits(0), one.bits(static_cast<size_t>(id)))
          << variant.name << ", sequence " << id << " alone";
    }
  }
}

// Captured when all slots are empty, a graph serves what comes later.
TEST(Day51Graph, ServesEveryLength) {
  std::vector<int> some = {5, 3, 9, 1};
  const Batch batch(some, 4);
  for (const auto& variant : days::variants<PagedDecode<T>>("paged_attention")) {
    if (!variant.runs_here) continue;
    const OnDevice direct(batch), captured(batch);
    variant.launch(direct.p);
    const std::vector<int32_t> none(some.size(), -1);
    CUDA_CHECK(cudaMemcpy(const_cast<int32_t*>(captured.p.lengths), none.data(), none.size() * sizeof none[0],
                          cudaMemcpyHostToDevice));
    days::Stream stream;
    const days::Graph graph(stream, [&] { variant.launch(captured.p, stream); });
    graph.launch(stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    for (const float lse : captured.lse.download()) EXPECT_NE(lse, lse) << variant.name;
    CUDA_CHECK(cudaMemcpy(const_cast<int32_t*>(captured.p.lengths), batch.lengths.data(),
                          none.size() * sizeof none[0], cudaMemcpyHostToDevice));
    graph.launch(stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    for (size_t s = 0; s < some.size(); ++s)
      EXPECT_EQ(captured.bits(s), direct.bits(s)) << variant.name << " " << s;
  }
}

// Queries and outputs as a layer has them: rows of (heads + 2 * kv_heads, dim), which nobody copies.
TEST(Day51Pitch, ReadsWhereRowsLie) {
  const Batch batch({7, 5, 2}, 5);
  constexpr size_t kWidth = size_t{Batch::kHeads + 2 * Batch::kKvHeads} * Batch::kDim;
  std::vector<T> qkv(3 * kWidth);
  for (size_t s = 0; s < 3; ++s) {
    std::copy_n(batch.q.data() + s * Batch::kHeads * Batch::kDim, Batch::kHeads * Batch::kDim,
                qkv.data() + s * kWidth);
    for (const size_t at : {size_t{Batch::kHeads}, size_t{Batch::kHeads + Batch::kKvHeads}})
      std::copy_n(batch.added.data() + s * Batch::kRow, Batch::kRow,
                  qkv.data() + s * kWidth + at * Batch::kDim);
  }
  const DeviceBuffer<T> packed(qkv), out(3 * kWidth);
  for (const auto& variant : days::variants<PagedDecode<T>>("paged_attention")) {
    if (!variant.runs_here) continue;
    const OnDevice dense(batch), wide(batch);
    variant.launch(dense.p);
    PagedDecode<T> p = wide.p;
    p.q = packed.data();
    p.k_new = p.q + Batch::kHeads * Batch::kDim;
    p.v_new = p.k_new + Batch::kKvHeads * Batch::kDim;
    p.o = out.data();
    p.q_pitch = p.new_pitch = p.o_pitch = {kWidth, Batch::kDim};
    variant.launch(p);
    CUDA_CHECK(cudaDeviceSynchronize());
    const std::vector<T> got = out.download(), want = dense.o.download();
    for (size_t s = 0; s < 3; ++s)
      EXPECT_EQ(std::memcmp(got.data() + s * kWidth, want.data() + s * Batch::kHeads * Batch::kDim,
                            sizeof(T) * Batch::kHeads * Batch::kDim),
                0)
          << variant.name << " " << s;
  }
}

TEST(Day51Refuses, WhatIsNoProblem) {
  const OnDevice good(Batch({1}, 6));
  for (const auto& variant : days::variants<PagedDecode<T>>("paged_attention")) {
    const auto refused = [&](const char* what, auto change) {
      PagedDecode<T> p = good.p;
      change(p);
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << ": " << what;
    };
    for (const int dim : {0, 32, 96, 256}) refused("dim", [dim](auto& p) { p.dim = dim; });
    for (const float scale : {0.0f, -1.0f, INFINITY, NAN})
      refused("scale", [scale](auto& p) { p.scale = scale; });
    refused("a group is no whole number", [](auto& p) { p.kv_heads = 2; });
    refused("more rows than an int", [](auto& p) { p.page = 1 << 30; });
    refused("more rows than 2^32", [](auto& p) { p.pages = 0x7fffffff; });
    refused("q off 16 bytes", [](auto& p) { p.q += 1; });
    refused("rows off 16 bytes", [](auto& p) { p.new_pitch.sequence += 1; });
    refused("rows that overlap", [](auto& p) { p.o_pitch.head = 8; });
    if (variant.name == "chunks" || variant.name == "shares")
      refused("a workspace too small", [](auto& p) { p.workspace.bytes -= 1; });
  }
}

}  // namespace
}  // namespace day51
