// SPDX-License-Identifier: MIT
// One thread asks the copy engine for a block's whole part of a and of b: two instructions, 32 KiB. Since
// streaming: loads that go around the registers, straight to shared memory, so no thread's own loads limit
// what is in flight. Needs compute capability 9.0. Bound by: memory alone. The library's kernel does the same
// on such a device.
// Teaches: cp_async_bulk, mbarrier_arrive_expect_tx, mbarrier_wait.
#include "common/check.h"
#include "common/ptx.h"
#include "common/util.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

constexpr int kThreads = 1024;
constexpr int kTile = 4 * kThreads;  // elements a block adds

struct Tile {
  alignas(16) float a[kTile];
  alignas(16) float b[kTile];
  alignas(8) uint64_t arrived;
};

__global__ void __launch_bounds__(kThreads) bulk_kernel(const float* a, const float* b, float* c, int64_t n) {
  __shared__ Tile tile;
  const int64_t start = int64_t{blockIdx.x} * kTile;
  if (start + kTile > n) {  // the last block: a bulk copy moves multiples of 16 bytes only
    for (int64_t i = start + threadIdx.x; i < n; i += kThreads) c[i] = a[i] + b[i];
    return;
  }
  if (threadIdx.x == 0) {
    days::ptx::mbarrier_init(&tile.arrived, 1);
    days::ptx::fence_proxy_async_shared();
    days::ptx::mbarrier_arrive_expect_tx(&tile.arrived, sizeof(tile.a) + sizeof(tile.b));
    days::ptx::cp_async_bulk(tile.a, a + start, sizeof(tile.a), &tile.arrived);
    days::ptx::cp_async_bulk(tile.b, b + start, sizeof(tile.b), &tile.arrived);
  }
  __syncthreads();  // nobody waits on a barrier that is not there yet
  days::ptx::mbarrier_wait(&tile.arrived, 0);
  const float4 x = reinterpret_cast<const float4*>(tile.a)[threadIdx.x];
  const float4 y = reinterpret_cast<const float4*>(tile.b)[threadIdx.x];
  reinterpret_cast<float4*>(c + start)[threadIdx.x] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

}  // namespace

void vector_add_bulk(const VectorAdd<float>& p, cudaStream_t stream) {
  days::require(p.n > 0, "bulk: n must be positive, not", p.n);
  days::require_needs(p, "bulk", kAligned);
  const int64_t blocks = days::ceil_div(p.n, kTile);
  days::require(blocks <= days::kMaxGridX, "bulk: a grid has at most 2^31 - 1 blocks of 4096 elements; n is",
                p.n);
  bulk_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.a, p.b, p.c, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day01
