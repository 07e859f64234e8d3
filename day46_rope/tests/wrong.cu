// SPDX-License-Identifier: MIT
//
// Rotations with a bug in each, which day 46's tests must reject.

#include "common/must_reject.h"
#include "common/ptx/sincos.h"
#include "day46_rope/rope.h"

namespace day46 {
namespace {

struct Angle {
  float sine, cosine;
};

// A thread has pair i of one head: angle_of(p, position, i), and `Pairs` says where its elements are.
struct Halves {
  __device__ static int a(int i, int) { return i; }
  __device__ static int b(int i, int half) { return half + i; }
};
template <class Pairs, class F, class T>
__global__ void turn(Rope<T> p, const T* x, T* y, int heads, F angle_of) {
  const int half = p.dim / 2;
  const int64_t n = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (n >= p.seq * heads * half) return;
  const int64_t head = n / half;
  const int i = static_cast<int>(n % half);
  const Angle angle = angle_of(p, p.start + head / heads, i);
  const T* from = x + head * p.dim;
  T* to = y + head * p.dim;
  const float a = days::to_float(from[Pairs::a(i, half)]), b = days::to_float(from[Pairs::b(i, half)]);
  to[Pairs::a(i, half)] = days::from_float<T>(a * angle.cosine - b * angle.sine);
  to[Pairs::b(i, half)] = days::from_float<T>(a * angle.sine + b * angle.cosine);
}
unsigned blocks(int64_t threads) {
  return static_cast<unsigned>(days::ceil_div(threads, int64_t{kThreads}));
}
template <class Pairs, class F, class T>
void launch(const Rope<T>& p, cudaStream_t stream) {
  require_problem(p, "wrong");
  const int64_t half = p.dim / 2;
  turn<Pairs><<<blocks(p.seq * p.heads * half), kThreads, 0, stream>>>(p, p.q, p.rotated_q, p.heads, F{});
  CUDA_CHECK_LAUNCH();
  turn<Pairs>
      <<<blocks(p.seq * p.kv_heads * half), kThreads, 0, stream>>>(p, p.k, p.rotated_k, p.kv_heads, F{});
  CUDA_CHECK_LAUNCH();
}

__device__ inline Angle of_radians(float radians) {
  Angle angle;
  sincosf(radians, &angle.sine, &angle.cosine);
  return angle;
}
template <class T>
__device__ inline Angle of_table(const Rope<T>& p, int64_t position, int i) {
  const int64_t at = (position - p.table_start) * (p.dim / 2) + i;
  return {p.sines[at], p.cosines[at]};
}

// A product in fp32, where an exact angle is asked for.
struct ByProduct {
  template <class T>
  __device__ Angle operator()(const Rope<T>& p, int64_t position, int i) const {
    return of_radians(static_cast<float>(position) * p.frequency[i]);
  }
};

// In fp16 that is seen as well: 1/256 is four of its steps below 1.
void by_product_half(const Rope<days::half>& p, cudaStream_t stream) {
  launch<Halves, ByProduct>(p, stream);
}
MUST_REJECT(rope, by_product_half, "x 64: rotated_|x 128: rotated_");

// Turns of one float: what the second float has is missing, and grows with the position.
struct OneFloat {
  template <class T>
  __device__ Angle operator()(const Rope<T>& p, int64_t position, int i) const {
    const float whole = static_cast<float>(position) * p.turns[i];
    const float lost = fmaf(static_cast<float>(position), p.turns[i], -whole);
    Angle angle;
    sincospif(2 * (whole - rintf(whole) + lost), &angle.sine, &angle.cosine);
    return angle;
  }
};
void one_float(const Rope<float>& p, cudaStream_t stream) {
  launch<Halves, OneFloat>(p, stream);
}
MUST_REJECT(rope, one_float, "rotated_");

// What the product's rounding lost is not put back.
struct Lost {
  template <class T>
  __device__ Angle operator()(const Rope<T>& p, int64_t position, int i) const {
    const float whole = static_cast<float>(position) * p.turns[i];
    Angle angle;
    sincospif(2 * (whole - rintf(whole) + static_cast<float>(position) * p.turns[p.dim / 2 + i]), &angle.sine,
              &angle.cosine);
    return angle;
  }
};
void lost(const Rope<float>& p, cudaStream_t stream) {
  launch<Halves, Lost>(p, stream);
}
MUST_REJECT(rope, lost, "rotated_");

// Positions in bf16, as a model in 16 bits makes them unless somebody takes care: 257 becomes 256.
struct RoundedPosition {
  template <class T>
  __device__ Angle operator()(const Rope<T>& p, int64_t position, int i) const {
    const float rounded = days::to_float(days::from_float<days::bf16>(static_cast<float>(position)));
    return of_radians(rounded * p.frequency[i]);
  }
};
void rounded_position(const Rope<days::bf16>& p, cudaStream_t stream) {
  launch<Halves, RoundedPosition>(p, stream);
}
MUST_REJECT(rope_product, rounded_position, "rotated_");

// One order of pairs where the other is asked for.
struct ByTable {
  template <class T>
  __device__ Angle operator()(const Rope<T>& p, int64_t position, int i) const {
    return of_table(p, position, i);
  }
};
void halves_for_interleaved(const Rope<days::bf16>& p, cudaStream_t stream) {
  launch<Halves, ByTable>(p, stream);
}
MUST_REJECT(rope_interleaved, halves_for_interleaved, "rotated_q[0,0,1] is");

void forward_again(const Rope<float>& p, cudaStream_t stream) {
  launch<Halves, ByTable>(p, stream);
}
MUST_REJECT(rope_backward, forward_again, "rotated_");

}  // namespace
}  // namespace day46
