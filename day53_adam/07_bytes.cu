// SPDX-License-Identifier: MIT
// m and the root of v in eight bits, with a scale for each group of 256 weights, which is a warp's: its lanes find the largest by
// exchange, so that no shared memory and no barrier is in it. The root, because codes reach over 2^18 from the largest to the least,
// and roots have half of their squares' range. A root is never rounded to 0, which would make m / eps a step.
// Bound by: memory, 22 bytes for each weight where mixed has 34.
#include <cuda_fp8.h>

#include "common/reduce.cuh"
#include "common/vector.cuh"
#include "day53_adam/adam.h"
#include "day53_adam/norm.cuh"
#include "day53_adam/table.cuh"
#include "day53_adam/update.cuh"

namespace day53 {
namespace {

using Four = days::Vec<float>;
using Codes = days::Vec<days::fp8_e4m3, 4>;
constexpr int kFours = kGroup / (4 * days::kWarpSize);  // a lane's

// What a scale of 0 gives is 0.
__device__ float inverse(float largest) {
  return largest >= kLeast ? kLargestCode / largest : 0;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    bytes_kernel(const __grid_constant__ Table<BytesTensor<T>> table, const Betas betas,
                 const AdamRates* on_device, const Clip clip) {
  const int tensor = tensor_of(table, blockIdx.x);
  const BytesTensor<T>& t = table.tensors[tensor];
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize,
            warp = static_cast<int>(threadIdx.x) / days::kWarpSize;
  const int64_t group = int64_t{blockIdx.x - table.begins[tensor]} * (kChunk / kGroup) + warp;
  const int64_t begin = group * kGroup;
  if (begin >= t.n) return;  // with all lanes of the warp
  const int64_t end = min(begin + kGroup, t.n);
  // Whether whole fours can be moved at once. Elements beyond the end are 0, and change no largest.
  const bool wide = days::aligned16(t.w, t.g) && reinterpret_cast<uintptr_t>(t.m) % 4 == 0 &&
                    reinterpret_cast<uintptr_t>(t.r) % 4 == 0 && reinterpret_cast<uintptr_t>(t.copy) % 8 == 0;
  Four w[kFours]{}, g[kFours]{}, m[kFours], v[kFours];
  Codes m_codes[kFours]{}, r_codes[kFours]{};
#pragma unroll
  for (int k = 0; k < kFours; ++k) {
    const int64_t i = begin + 4 * (lane + k * days::kWarpSize);
    if (wide && i + 4 <= end) {
      w[k] = days::load16_streaming(t.w + i);
      g[k] = days::load16_streaming(t.g + i);
      m_codes[k] = *reinterpret_cast<const Codes*>(t.m + i);
      r_codes[k] = *reinterpret_cast<const Codes*>(t.r + i);
    } else {
      for (int j = 0; j < 4; ++j) {
        if (i + j >= end) break;
        w[k][j] = t.w[i + j];
        g[k][j] = t.g[i + j];
        m_codes[k][j] = t.m[i + j];
        r_codes[k][j] = t.r[i + j];
      }
    }
  }
  const float m_scale = t.m_scale[group], r_scale = t.r_scale[group];
  AdamRates rates = *on_device;
  if (!t.decays) rates.decay = 0;
  float factor;
  if (!clip.gives(factor)) return;
  float m_largest = 0, v_largest = 0;
#pragma unroll
  for (int k = 0; k < kFours; ++k)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float r = static_cast<float>(r_codes[k][j]) * r_scale;
      m[k][j] = static_cast<float>(m_codes[k][j]) * m_scale;
      v[k][j] = r * r;
      update(w[k][j], g[k][j] * factor, m[k][j], v[k][j], betas, rates);
      m_largest = fmaxf(m_largest, fabsf(m[k][j]));
      v_largest = fmaxf(v_largest, v[k][j]);
    }
  m_largest = days::warp_reduce(m_largest, days::Max{});
  const float r_largest = sqrtf(days::warp_reduce(v_largest, days::Max{}));
  const float m_inverse = inverse(m_largest), r_inverse = inverse(r_largest);
  __syncwarp();  // all lanes have read the old scales
  if (lane == 0) {
    t.m_scale[group] = m_inverse > 0 ? m_largest / kLargestCode : 0;
    t.r_scale[group] = r_inverse > 0 ? r_largest / kLargestCode : 0;
  }
#pragma unroll
  for (int k = 0; k < kFours; ++k) {
    const int64_t i = begin + 4 * (lane + k * days::kWarpSize);
    days::HalfVec<std::conditional_t<std::is_same_v<T, float>, days::half, T>> rounded;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float r = sqrtf(v[k][j]) * r_inverse;
      m_codes[k][j] = days::fp8_e4m3(m[k][j] * m_inverse);
      r_codes[k][j] = days::fp8_e4m3(r > 0 ? fmaxf(r, kLeastCode) : r);
      if constexpr (!std::is_same_v<T, float>) rounded[j] = days::from_float<T>(w[k][j]);
    }
    if (wide && i + 4 <= end) {
      days::store16_streaming(t.w + i, w[k]);
      *reinterpret_cast<Codes*>(t.m + i) = m_codes[k];
      *reinterpret_cast<Codes*>(t.r + i) = r_codes[k];
      if constexpr (!std::is_same_v<T, float>) days::store8(t.copy + i, rounded);
    } else {
      for (int j = 0; j < 4; ++j) {
        if (i + j >= end) break;
        t.w[i + j] = w[k][j];
        t.m[i + j] = m_codes[k][j];
        t.r[i + j] = r_codes[k][j];
        if constexpr (!std::is_same_v<T, float>) t.copy[i + j] = rounded[j];
      }
    }
  }
}

}  // namespace

template <class T>
void step_bytes(const AdamBytes<T>& p, cudaStream_t stream) {
  char* const memory = workspace_of(p, norm_workspace(p), "bytes");
  std::vector<AdamTensor<float>> gradients;
  for (const auto& t : p.tensors) gradients.push_back({nullptr, t.g, nullptr, nullptr, nullptr, t.n, false});
  gradient_norm(gradients, memory, p.norm, "bytes", stream);
  for_each_table(p.tensors, kChunk, "bytes", [&](const Table<BytesTensor<T>>& table, unsigned blocks) {
    bytes_kernel<<<blocks, kThreads, 0, stream>>>(table, Betas(p.rule), p.rates, Clip{p.norm, p.max_norm});
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(step_bytes, AdamBytes, float, days::half, days::bf16);

}  // namespace day53
