// SPDX-License-Identifier: MIT
//
// What the rungs of 8-bit floats share: their tile of c, their stages, and what their launchers do.
#pragma once

#include "day67_hopper_matmul/rows.cuh"

namespace day67 {

inline constexpr int kByteM = 128, kByteN = 256;  // of c, that a block makes at a time
inline constexpr int kByteReaders = kByteM / kRows * kGroup, kByteThreads = kGroup + kByteReaders;

// 128 of k: as many bytes as a stage of `persistent`.
template <class T>
struct alignas(1024) Bytes {
  T a[kByteM * kAlong<T>];
  T b[kByteN * kAlong<T>];
};

template <class T>
struct ByteMemory {
  days::Ring<Bytes<T>, 4, kByteReaders / days::kWarpSize> ring;
  WayOut<days::bf16> out[kByteM / kRows];
};

// The producer's part of a kernel.
template <class T>
__device__ __forceinline__ void ask_for_bytes(ByteMemory<T>& shared, const Walk& walk, const CUtensorMap& a,
                                              const CUtensorMap& b) {
  days::ptx::setmaxnreg_dec<40>();
  if (threadIdx.x > 0) return;
  ask(shared.ring, walk, [&](Bytes<T>& stage, Place place, int t, uint64_t* full) {
    days::ptx::cp_async_bulk_tensor(stage.a, &a, t * kAlong<T>, place.row * kByteM, full);
    days::ptx::cp_async_bulk_tensor(stage.b, &b, t * kAlong<T>, place.col * kByteN, full);
  });
}

template <class T, class Kernel>
void launch_bytes(Kernel kernel, const ByteMatmul<T>& p, const char* variant, cudaStream_t stream) {
  days::require(p.m > 0 && p.n > 0 && p.k > 0, variant, ": m, n and k must be positive; the least is",
                std::min({p.m, p.n, p.k}));
  days::require_needs(p, variant, kByteN8, kByteK16, kByteAligned);
  const Walk walk = walk_of(p, kByteM, kByteN, kAlong<T>, variant);
  launch<ByteMemory<T>>(kernel, blocks_of(walk), kByteThreads, stream, walk,
                        map_of_rows(p.a, p.m, p.k, kByteM), map_of_rows(p.b, p.n, p.k, kByteN),
                        days::tensor_map(p.c, p.m, p.n, kRows, kSlab, CU_TENSOR_MAP_SWIZZLE_128B));
}

}  // namespace day67
