// SPDX-License-Identifier: MIT
//
// How exact are sine and cosine, by position and by the way that the angle is made? The rungs' own kernels turn pairs of 1 and
// 0, of which the cosine and the sine are what comes out. For each position the worst of 256 positions from there on and
// of 64 pairs, base 10,000, is compared with double. "16 bits" is rung 1 with the position rounded to bf16 first.
//
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp day46_rope/[0-9]*.cu day46_rope/programs/accuracy.cu -o accuracy && ./accuracy

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "common/check.h"
#include "day46_rope/rope.h"

namespace day46 {
namespace {

constexpr int kSeq = 256, kDim = 128, kHalf = kDim / 2;

template <class T>
class Array {
 public:
  explicit Array(const std::vector<T>& list) : size_(list.size()) {
    CUDA_CHECK(cudaMalloc(&data_, size_ * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(data_, list.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  Array(const Array&) = delete;
  ~Array() { cudaFree(data_); }
  T* get() const { return data_; }
  std::vector<T> list() const {
    std::vector<T> copy(size_);
    CUDA_CHECK(cudaMemcpy(copy.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return copy;
  }

 private:
  T* data_ = nullptr;
  size_t size_;
};

double angle_of(int64_t position, int64_t pair) {
  return static_cast<double>(position) * frequency({}, pair, kDim);
}

// The worst error of a sine or cosine of the positions from `start` on. `rounded`: each
// position is rounded to bf16 before it is used.
double worst(void (*launch)(const Rope<float>&, cudaStream_t), int64_t start, bool rounded = false) {
  std::vector<float> frequencies, turns(kDim), cosines, sines, ones;
  for (int64_t i = 0; i < kHalf; ++i) {
    frequencies.push_back(static_cast<float>(frequency({}, i, kDim)));
    const Turns of = turns_of(frequency({}, i, kDim));
    turns[static_cast<size_t>(i)] = of.high;
    turns[static_cast<size_t>(kHalf + i)] = of.low;
  }
  for (int64_t token = 0; token < kSeq; ++token) {
    for (int64_t i = 0; i < kHalf; ++i) {
      cosines.push_back(static_cast<float>(std::cos(angle_of(start + token, i))));
      sines.push_back(static_cast<float>(std::sin(angle_of(start + token, i))));
    }
    for (int i = 0; i < kDim; ++i) ones.push_back(i < kHalf ? 1.0f : 0.0f);
  }
  const Array<float> q(ones), rotated_q(ones), rotated_k(ones), f(frequencies), t(turns), c(cosines),
      s(sines);
  double error = 0;
  const auto compare = [&](const std::vector<float>& got, int64_t from, int64_t tokens) {
    for (int64_t token = 0; token < tokens; ++token) {
      for (int64_t i = 0; i < kHalf; ++i) {
        const double angle = angle_of(from + token, i);
        const size_t at = static_cast<size_t>(token * kDim + i);
        error = std::max({error, std::abs(static_cast<double>(got[at]) - std::cos(angle)),
                          std::abs(static_cast<double>(got[at + kHalf]) - std::sin(angle))});
      }
    }
  };
  Rope<float> p = {
      q.get(), q.get(), f.get(), t.get(), c.get(), s.get(), rotated_q.get(), rotated_k.get(), start, kSeq,
      1,       1,       kDim,    start,   kSeq,    {}};
  if (!rounded) {
    launch(p, nullptr);
    compare(rotated_q.list(), start, kSeq);
    return error;
  }
  p.seq = 1;
  for (int64_t token = 0; token < kSeq;
       ++token) {  // a call each, because each position is rounded on its own
    p.start =
        static_cast<int64_t>(days::to_float(days::from_float<days::bf16>(static_cast<float>(start + token))));
    launch(p, nullptr);
    compare(rotated_q.list(), start + token, 1);
  }
  return error;
}

}  // namespace
}  // namespace day46

int main() {
  using namespace day46;
  std::printf("  position   16 bits    approx   product     table     turns\n");
  double most = 0;
  for (const int64_t start : {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000}) {
    const double turns = worst(rope_turns<float>, start);
    std::printf("%10lld   %7.1e   %7.1e   %7.1e   %7.1e   %7.1e\n", static_cast<long long>(start),
                worst(rope_product<float>, start, true), worst(rope_approx<float>, start),
                worst(rope_product<float>, start), worst(rope_table<float>, start), turns);
    most = std::max(most, turns);
  }
  if (most > 4e-7) std::printf("turns are off by %.1e, and should be by 4e-7 at most\n", most);
  return most <= 4e-7 ? 0 : 1;
}
