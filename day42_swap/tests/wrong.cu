// SPDX-License-Identifier: MIT
//
// Kernels of day 42 with a bug in each, which its tests must reject.
#include "common/check.h"
#include "common/must_reject.h"
#include "common/util.h"
#include "day42_swap/swap.h"

namespace day42 {
namespace {

constexpr int kThreads = 256;
unsigned grid(int64_t threads) {
  return static_cast<unsigned>(days::ceil_div(threads, kThreads));
}
__device__ int64_t index() {
  return int64_t{blockIdx.x} * kThreads + threadIdx.x;
}

// a is read again after b's element has been put there: both arrays end with b's.
template <class T>
__global__ void overwrites_kernel(T* a, T* b, int64_t n) {
  const int64_t i = index();
  if (i >= n) return;
  a[i] = b[i];
  b[i] = a[i];
}

// Every element is fetched from its mirror place, by its own thread: nobody waits until the other one has been read.
template <class T>
__global__ void each_its_own_kernel(T* x, int64_t n) {
  const int64_t i = index();
  if (i < n) x[i] = x[n - 1 - i];
}

// A right pair, but of all indices: thread i and thread n - 1 - i both own it, and swap it twice.
template <class T>
__global__ void two_owners_kernel(T* x, int64_t n) {
  const int64_t i = index();
  if (i >= n) return;
  const T front = x[i], back = x[n - 1 - i];
  x[i] = back;
  x[n - 1 - i] = front;
}

// One element too far: x[n - i] is the mirror of x[i - 1].
template <class T>
__global__ void one_too_far_kernel(T* x, int64_t n) {
  const int64_t i = index();
  if (i >= n / 2 || i == 0) return;
  const T front = x[i], back = x[n - i];
  x[i] = back;
  x[n - i] = front;
}

// Groups of 16 bytes change places, and none is turned round.
template <class T>
__global__ void groups_stay_kernel(uint4* x, int64_t groups) {
  const int64_t i = index(), other = groups - 1 - i;
  if (i > other) return;
  const uint4 front = x[i], back = x[other];
  x[i] = back;
  x[other] = front;
}

// The words of a group are turned round, the bytes of a word are not.
__global__ void bytes_stay_kernel(uint4* x, int64_t groups) {
  const int64_t i = index(), other = groups - 1 - i;
  if (i > other) return;
  const uint4 front = x[i], back = x[other];
  x[i] = {back.w, back.z, back.y, back.x};
  x[other] = {front.w, front.z, front.y, front.x};
}

}  // namespace

void overwrites(const Swap<float>& p, cudaStream_t stream) {
  overwrites_kernel<<<grid(p.n), kThreads, 0, stream>>>(p.a, p.b, p.n);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(swap, overwrites, "1: b[0] is");

void each_its_own(const Reverse<float>& p, cudaStream_t stream) {
  each_its_own_kernel<<<grid(p.n), kThreads, 0, stream>>>(p.x, p.n);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(reverse, each_its_own, ": x[|simt-race-global");

void two_owners(const Reverse<float>& p, cudaStream_t stream) {
  two_owners_kernel<<<grid(p.n), kThreads, 0, stream>>>(p.x, p.n);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(reverse, two_owners, ": x[|simt-race-global");

void one_too_far(const Reverse<float>& p, cudaStream_t stream) {
  one_too_far_kernel<<<grid(p.n), kThreads, 0, stream>>>(p.x, p.n);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(reverse, one_too_far, "2: x[0] is");

void groups_stay(const Reverse<float>& p, cudaStream_t stream) {
  days::require_needs(p, "groups_stay", kWholeVectors);
  groups_stay_kernel<float><<<grid(p.n / 4), kThreads, 0, stream>>>(reinterpret_cast<uint4*>(p.x), p.n / 4);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(reverse, groups_stay, "16: x[0] is");

void bytes_stay(const Reverse<uint8_t>& p, cudaStream_t stream) {
  days::require_needs(p, "bytes_stay", kWholeVectors);
  bytes_stay_kernel<<<grid(p.n / 16), kThreads, 0, stream>>>(reinterpret_cast<uint4*>(p.x), p.n / 16);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(reverse, bytes_stay, "16: x[0] is");

}  // namespace day42
