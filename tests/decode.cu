// SPDX-License-Identifier: MIT
//
// A model writes: day 43's causal attention takes the prompts, then each step's token goes through day 51's attention with keys in pages and
// heads that share them. The step is one CUDA graph, captured before the first and launched for all of them: lengths, tables and the step's number
// lie on the device. Each row of o must be that of day 43's attention to all tokens at once.
//
//   nvcc -O3 -std=c++20 -arch=sm_80 -I. common/core.cpp common/program/program.cpp day43_flash_attention/[0-9]*.cu day51_paged_attention/[0-9]*.cu day51_paged_attention/append.cu day51_paged_attention/merge.cu tests/decode.cu -o decode && ./decode

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/compare.h"
#include "common/device.h"
#include "common/graph.h"
#include "common/program.h"
#include "common/random.h"
#include "common/stream.h"
#include "common/types.h"
#include "common/util.h"
#include "day43_flash_attention/attention.h"
#include "day51_paged_attention/paged_attention.h"

namespace {

using days::half;
using Halves = days::DeviceBuffer<half>;

constexpr int kSequences = 2, kHeads = 4, kKvHeads = 2, kGroup = kHeads / kKvHeads, kDim = 64, kPage = 16;
constexpr int kPrompt[kSequences] = {45, 16};  // one ends in the middle of a page, one with it

// A token's row is (heads + 2 * kv_heads, dim): its queries, keys and values.
constexpr int kRow = (kHeads + 2 * kKvHeads) * kDim;
enum Part { kQ, kK, kV };

float element(int sequence, int token, int i) {
  return static_cast<float>(days::normal(static_cast<uint64_t>(51 + sequence),
                                         static_cast<size_t>(token) * kRow + static_cast<size_t>(i)));
}

// All of a sequence's tokens as (heads, tokens, dim), keys and values once for each query that shares them.
std::vector<half> arranged(int sequence, int tokens, Part part) {
  std::vector<half> rows;
  for (int head = 0; head < kHeads; ++head) {
    const int from = part == kQ ? head : kHeads + (part == kV ? kKvHeads : 0) + head / kGroup;
    for (int token = 0; token < tokens; ++token)
      for (int d = 0; d < kDim; ++d) rows.push_back(half(element(sequence, token, from * kDim + d)));
  }
  return rows;
}

// o of a sequence's first `tokens`, as (heads, tokens, dim).
std::vector<float> forward(int sequence, int tokens, float scale, cudaStream_t stream) {
  const Halves q(arranged(sequence, tokens, kQ)), k(arranged(sequence, tokens, kK)),
      v(arranged(sequence, tokens, kV)), o(q.size());
  const days::DeviceBuffer<float> lse(static_cast<size_t>(kHeads * tokens));
  day43::attention_wide<half>(
      {q.data(), k.data(), v.data(), o.data(), lse.data(), 1, kHeads, tokens, tokens, kDim, scale, true},
      stream);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  std::vector<float> values;
  for (const half x : o.download()) values.push_back(static_cast<float>(x));
  return values;
}

// What a model does between two steps: the step's token becomes the row that attention reads.
__global__ void take_token(const half* tokens,  // (steps, sequences, kRow)
                           const int* step, half* row) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kSequences * kRow) row[i] = tokens[int64_t{*step} * kSequences * kRow + i];
}
// o is kept, and each sequence is a token longer. One block.
__global__ void keep_o(const half* o, half* kept,  // (steps, sequences, heads, dim)
                       int32_t* lengths, int* step) {
  for (int i = static_cast<int>(threadIdx.x); i < kSequences * kHeads * kDim;
       i += static_cast<int>(blockDim.x))
    kept[int64_t{*step} * kSequences * kHeads * kDim + i] = o[i];
  __syncthreads();
  if (threadIdx.x < kSequences) ++lengths[threadIdx.x];
  if (threadIdx.x == 0) ++*step;
}

void write(days::Program& program) {
  if (!days::sm_80.met(days::query_device())) return program.skip("needs sm_80");
  const days::Stream stream;
  const int steps = static_cast<int>(program.number("--steps"));
  const float scale = 1 / std::sqrt(static_cast<float>(kDim));

  std::vector<int32_t> rooms;  // tokens that each sequence will have
  for (const int prompt : kPrompt) rooms.push_back(prompt + steps);
  const int most_pages = days::ceil_div(*std::max_element(rooms.begin(), rooms.end()), kPage);
  // Pages are handed out by turns, from the last one down: no sequence's lie side by side.
  const int count = kSequences * most_pages;
  std::vector<int32_t> pages;  // (sequences, most_pages)
  for (int s = 0; s < kSequences; ++s)
    for (int i = 0; i < most_pages; ++i) pages.push_back(count - 1 - (i * kSequences + s));
  std::vector<half> k(static_cast<size_t>(count) * kKvHeads * kPage * kDim, half(NAN)), v(k), tokens;
  for (int s = 0; s < kSequences; ++s) {
    for (int token = 0; token < kPrompt[s]; ++token) {
      const int page = pages[static_cast<size_t>(s * most_pages + token / kPage)];
      for (int head = 0; head < kKvHeads; ++head) {
        for (int d = 0; d < kDim; ++d) {
          const auto at = static_cast<size_t>(((page * kKvHeads + head) * kPage + token % kPage) * kDim + d);
          k[at] = half(element(s, token, (kHeads + head) * kDim + d));
          v[at] = half(element(s, token, (kHeads + kKvHeads + head) * kDim + d));
        }
      }
    }
  }
  for (int step = 0; step < steps; ++step)
    for (int s = 0; s < kSequences; ++s)
      for (int i = 0; i < kRow; ++i) tokens.push_back(half(element(s, kPrompt[s] + step, i)));

  const Halves keys(k), values(v), all(tokens), row(size_t{kSequences} * kRow),
      o(size_t{kSequences} * kHeads * kDim), kept(o.size() * static_cast<size_t>(steps));
  const days::DeviceBuffer<int32_t> table(pages),
      lengths(std::vector<int32_t>(std::begin(kPrompt), std::end(kPrompt)));
  const days::DeviceBuffer<int> step(std::vector<int>{0});
  const days::DeviceBuffer<float> lse(size_t{kSequences} * kHeads);
  day51::PagedDecode<half> p{};
  p.q = row.data();
  p.k_new = p.q + kHeads * kDim;
  p.v_new = p.k_new + kKvHeads * kDim;
  p.q_pitch = p.new_pitch = {kRow, kDim};
  p.k = keys.data();
  p.v = values.data();
  p.table = table.data();
  p.lengths = lengths.data();
  p.o = o.data();
  p.o_pitch = days::dense_pitch(kHeads, kDim);
  p.lse = lse.data();
  p.sequences = kSequences;
  p.heads = kHeads;
  p.kv_heads = kKvHeads;
  p.dim = kDim;
  p.page = kPage;
  p.most_pages = most_pages;
  p.pages = count;
  p.scale = scale;
  const days::DeviceBuffer<unsigned char> memory(day51::partials_workspace(p));
  p.workspace = {memory.data(), memory.size()};

  const days::Graph graph(stream, [&] {
    take_token<<<days::ceil_div(kSequences * kRow, 256), 256, 0, stream>>>(all.data(), step.data(),
                                                                           row.data());
    CUDA_CHECK_LAUNCH();
    if (program.choice("--rung") == "shares") {
      day51::paged_shares<half>(p, stream);
    } else {
      day51::paged_chunks<half>(p, stream);
    }
    keep_o<<<1, 256, 0, stream>>>(o.data(), kept.data(), lengths.data(), step.data());
    CUDA_CHECK_LAUNCH();
  });
  for (int i = 0; i < steps; ++i) {
    program.progress(static_cast<size_t>(i + 1), static_cast<size_t>(steps), "step");
    graph.launch(stream);
  }
  CUDA_CHECK(cudaStreamSynchronize(stream));

  const std::vector<half> written = kept.download();
  for (int s = 0; s < kSequences; ++s) {
    const int prompt = kPrompt[s], longest = rooms[static_cast<size_t>(s)];
    const std::vector<float> whole = forward(s, longest, scale, stream),
                             of_prompt = forward(s, prompt, scale, stream);
    std::vector<float> first, first_whole, then, then_whole;
    for (int head = 0; head < kHeads; ++head) {
      for (int token = 0; token < longest; ++token) {
        for (int d = 0; d < kDim; ++d) {
          const float expected = whole[static_cast<size_t>((head * longest + token) * kDim + d)];
          if (token < prompt) {
            first.push_back(of_prompt[static_cast<size_t>((head * prompt + token) * kDim + d)]);
            first_whole.push_back(expected);
          } else {
            then.push_back(static_cast<float>(written[static_cast<size_t>(
                (((token - prompt) * kSequences + s) * kHeads + head) * kDim + d)]));
            then_whole.push_back(expected);
          }
        }
      }
    }
    // Both round o and their weights to fp16, against other reference points.
    const std::string name = "sequence " + std::to_string(s);
    program.compare(first.data(), first_whole.data(), first.size(), (name + ", prompt").c_str(),
                    {2e-3, 2e-3});
    program.compare(then.data(), then_whole.data(), then.size(), (name + ", step by step").c_str(),
                    {2e-3, 2e-3});
  }
}

}  // namespace

using Words = std::vector<std::string>;

int main(int argc, char** argv) {
  const days::About about{
      .name = "decode",
      .does = "prompts at once, then a token a step from a captured graph",
      .gpu_size = 0,
      .cpu_size = 0,
      .type = "fp16",
      .flags = {days::number_flag("--steps", "tokens that are written", 300, 1, 4096),
                days::choice_flag("--rung", "of day 51",
                                  days::on_gpu() ? Words{"shares", "chunks"} : Words{"chunks", "shares"})}};
  return days::program(argc, argv, about, [](days::Program& program) { write(program); });
}
