// SPDX-License-Identifier: MIT
// The kernel that becomes a citizen of PyTorch: c = a + b, with 16-byte loads and stores where the three begin at a multiple of 16
// bytes, as day 01's `float4`. What other languages call is plain C, and knows nothing of PyTorch: pointers, a length and a stream.
// A function returns CUDA's error code.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

constexpr int kThreads = 256;

__global__ void vector_add_kernel(const float* a, const float* b, float* c, int64_t n) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void vector_add_float4_kernel(const float* a, const float* b, float* c, int64_t n) {
  const int64_t first = 4 * (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x);
  if (first + 4 <= n) {
    const float4 x = *reinterpret_cast<const float4*>(a + first);
    const float4 y = *reinterpret_cast<const float4*>(b + first);
    *reinterpret_cast<float4*>(c + first) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  } else {
    for (int64_t i = first; i < n; ++i) c[i] = a[i] + b[i];
  }
}

bool aligned16(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % 16 == 0;
}

unsigned blocks(int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

}  // namespace

extern "C" {

int day02_vector_add(const float* a, const float* b, float* c, int64_t n, cudaStream_t stream) {
  if (n == 0) return 0;  // a grid of 0 blocks is an error
  if (aligned16(a) && aligned16(b) && aligned16(c)) {
    vector_add_float4_kernel<<<blocks((n + 3) / 4), kThreads, 0, stream>>>(a, b, c, n);
    return static_cast<int>(cudaGetLastError());
  }
  vector_add_kernel<<<blocks(n), kThreads, 0, stream>>>(a, b, c, n);
  return static_cast<int>(cudaGetLastError());
}

// Whether its memory is this CPU's: the library was built for the CPU backend, or by nvcc for a GPU.
int day02_on_cpu() {
#ifdef __SIMT__
  return 1;
#else
  return 0;
#endif
}

int day02_wait(cudaStream_t stream) {
  return static_cast<int>(cudaStreamSynchronize(stream));
}
}
