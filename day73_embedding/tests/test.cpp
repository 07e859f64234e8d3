// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/buffer.h"
#include "common/random.h"
#include "common/structures.h"
#include "common/testing.h"
#include "day73_embedding/embedding.h"

namespace day73 {
namespace {

using days::DeviceBuffer;

// Device addresses that nothing follows: the launchers must have thrown before.
template <class T>
T* nowhere(int i) {
  return reinterpret_cast<T*>((uintptr_t{1} << 40) * static_cast<uintptr_t>(i));
}

TEST(Day73Refuses, NothingToDo) {
  for (const auto& variant : days::variants<Embedding<float>>("embedding"))
    for (int zero = 0; zero < 3; ++zero) {
      Embedding<float> p{nowhere<float>(1), nowhere<int32_t>(2), nowhere<float>(3), 8, 8, 8, 0};
      (zero == 0 ? p.count : zero == 1 ? p.vocab : p.width) = 0;
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << " " << zero;
    }
  const days::Workspace enough{nowhere<char>(4), size_t{1} << 40};
  for (const auto& variant : days::variants<EmbeddingBackward<float>>("embedding_backward"))
    for (int zero = 0; zero < 3; ++zero) {
      EmbeddingBackward<float> p{
          nowhere<float>(1), nowhere<int32_t>(2), nowhere<float>(3), 8, 8, 8, -1, enough};
      (zero == 0 ? p.count : zero == 1 ? p.vocab : p.width) = -1;
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << " " << zero;
    }
}

// What the kernels of the gradient go by: each token once, in order, also those without a gradient.
TEST(Day73Places, AreInOrderAndComplete) {
  constexpr int kCount = 3000, kVocab = 70, kPadding = 3;
  std::vector<int32_t> tokens = days::random_tokens(73, kCount, kVocab, 1).tokens;
  tokens[17] = -1, tokens[2999] = kVocab, tokens[1000] = 2147483647;
  const DeviceBuffer<int32_t> given(tokens);
  const DeviceBuffer<unsigned char> memory(places_workspace(kCount, kVocab));
  const Places sorted = sort_tokens(given.data(), kCount, kVocab, kPadding, memory.data(), nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
  const auto downloaded = [](const auto* from, size_t n) {
    std::vector<int64_t> list(n);
    std::vector<std::remove_cvref_t<decltype(*from)>> raw(n);
    CUDA_CHECK(cudaMemcpy(raw.data(), from, n * sizeof(*from), cudaMemcpyDeviceToHost));
    std::copy(raw.begin(), raw.end(), list.begin());
    return list;
  };
  const std::vector<int64_t> words = downloaded(sorted.words, kCount),
                             places = downloaded(sorted.places, kCount),
                             starts = downloaded(sorted.starts, kVocab + 1);
  std::vector<int64_t> expected;
  for (int word = 0; word <= kVocab; ++word) {
    EXPECT_EQ(starts[static_cast<size_t>(word)], static_cast<int64_t>(expected.size())) << word;
    for (int t = 0; t < kCount; ++t) {
      const int32_t token = tokens[static_cast<size_t>(t)];
      if (word < kVocab ? token == word && word != kPadding : !has_gradient(token, kVocab, kPadding))
        expected.push_back(t);
    }
  }
  EXPECT_EQ(places, expected);
  for (size_t i = 0; i < words.size(); ++i) {
    const int32_t token = tokens[static_cast<size_t>(places[i])];
    ASSERT_EQ(words[i], has_gradient(token, kVocab, kPadding) ? token : kVocab) << i;
  }
}

// The skeleton writes a row of sums to which nothing has been added.
const bool kRowIsGiven = days::skeleton_is_given(
    "embedding_backward", "the writing of a row of sums of 0", [](const days::Shape& s) {
      return days::Given{static_cast<size_t>(s[1] * s[2]), false};
    });

// What sorted and pieces add up does not depend on who came first: the same bits in 20 runs, on a CPU in three orders.
void expect_same_bits(void (*launch)(const EmbeddingBackward<float>&, cudaStream_t), size_t workspace) {
  constexpr int kCount = 700, kVocab = 40, kWidth = 64;
  std::vector<float> values(size_t{kCount} * kWidth);
  for (size_t i = 0; i < values.size(); ++i) values[i] = days::normal(73, i);
  const DeviceBuffer<float> dy(values), dw(size_t{kVocab} * kWidth);
  const DeviceBuffer<int32_t> tokens(days::random_tokens(73, kCount, kVocab, 1).tokens);
  const DeviceBuffer<unsigned char> memory(workspace);
  std::vector<float> first;
  for (int run = 0; run < days::kRunsInOrder; ++run) {
    const days::InOrder order(run);
    launch({dy.data(), tokens.data(), dw.data(), kCount, kVocab, kWidth, -1, {memory.data(), workspace}},
           nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    const std::vector<float> got = dw.download();
    if (first.empty()) first = got;
    ASSERT_EQ(std::memcmp(first.data(), got.data(), got.size() * sizeof(float)), 0) << "run " << run;
  }
}
TEST(Day73Backward, SameBitsInEveryRun) {
  const EmbeddingBackward<float> size{nullptr, nullptr, nullptr, 700, 40, 64, -1, {}};
  expect_same_bits(embedding_sorted<float>, sorted_workspace(size));
  expect_same_bits(embedding_pieces<float>, pieces_workspace(size));
}

}  // namespace
}  // namespace day73
