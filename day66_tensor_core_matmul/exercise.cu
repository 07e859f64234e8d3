// SPDX-License-Identifier: MIT
//
// Exercise: the matrix units by their own instruction, from tiles that ldmatrix reads without bank conflicts.
// Gates: every element right for every shape that is taken; no race; at most 0.1 bank conflicts a request of shared
// memory; a warp asks for at least 300 bytes of global memory with one instruction (wmma asks for 64).
//   ./days check 66     tells how far you are        ./days hint 66     when you are stuck
#include <cstdint>
#include <cstring>

#include "common/check.h"
#include "common/ptx.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/matmul.h"

namespace day66 {
namespace {

constexpr int kWarps = 4, kThreads = kWarps * days::kWarpSize;
constexpr int kTile = 64, kDepth = 32;  // of c, a block; of k, a tile of a or b

template <class T>
struct alignas(128) Shared {
  T a[kTile * kDepth];  // rows of 4 chunks, a chunk being 8 elements, 16 bytes
  T b[kDepth * kTile];  // rows of 8 chunks
};

// d += a * b.
template <class T>
[[maybe_unused]] __device__ void multiply_add(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                              uint32_t b1) {
  if constexpr (std::is_same_v<T, days::half>) {
    days::ptx::mma_m16n8k16_f32_f16_f16_f32(d, a, {b0, b1}, d);
  } else {
    days::ptx::mma_m16n8k16_f32_bf16_bf16_f32(d, a, {b0, b1}, d);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) exercise_kernel(const Matmul<T> p, int tiles_across) {
  __shared__ Shared<T> memory;
  [[maybe_unused]] Shared<T>& shared = memory;
  // 1. Which 64 x 64 elements of c are this block's, and which 32 x 32 of them this warp's?
  // 2. For each 32 of k: fetch both tiles, a uint4 a thread at a time, zeros beyond the edge. Who must wait, and when?
  //    Where in its row does a chunk lie, if ldmatrix is to meet no conflict?
  // 3. For each 16 of these: two ldmatrix for a, two ldmatrix<true> for b. Which 16 bytes does each lane name?
  // 4. Eight products: sum[i][j] is rows 16i and on, columns 8j and on, of the warp's 32 x 32.
  // 5. Lane 4g + t has rows g and g + 8, columns 2t and 2t + 1, of each. Round, and store two at a time.
  // your code
}

}  // namespace

template <class T>
requires Half<T>
void exercise(const Matmul<T>& p, cudaStream_t stream) {
  days::require_matmul(p, "exercise");
  days::require_needs(p, "exercise", kWholeN, kWholeK, kAligned);
  const unsigned blocks = tile_blocks(p.m, p.n, kTile, kTile, "exercise");
  exercise_kernel<<<blocks, kThreads, 0, stream>>>(p, days::ceil_div(p.n, kTile));
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, Matmul, days::half, days::bf16);

}  // namespace day66
