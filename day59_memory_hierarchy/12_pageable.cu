// SPDX-License-Identifier: MIT
// pageable: the farthest level is the host's memory, behind the bus. A copy from an ordinary array goes through the
// driver's own buffer.
// pinned: from memory whose pages stay where they are, which the copy engine reads itself.
// mapped: no copy. The kernel reads pinned memory through the bus, a sector at a time, as if it were its own.
// managed: one pointer for both sides. Pages go to the side that touches them; here to the host, and back by the kernel.
// Bound by: the bus, and by who drives it: CPU, copy engine, loads, page faults.
#include <cstring>
#include <vector>

#include "day59_memory_hierarchy/memory.h"

namespace day59 {

namespace {

__global__ void __launch_bounds__(kThreads) read_kernel(const uint32_t* x,  // (n), with the host
                                                        uint32_t* y,        // (n)
                                                        int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) y[i] = x[i];
}

size_t bytes_of(const Fetch<uint32_t>& p, const char* variant) {
  days::require(p.n > 0, variant, ": n must be positive, not", p.n);
  return static_cast<size_t>(p.n) * sizeof(uint32_t);
}
unsigned blocks_of(const Fetch<uint32_t>& p, const char* variant) {
  bytes_of(p, variant);
  const int64_t blocks = days::ceil_div(p.n, kThreads);
  days::require(blocks <= days::kMaxGridX, variant, ": n is too large for one grid:", p.n);
  return static_cast<unsigned>(blocks);
}

// Pages of managed memory, in the order of the stream, back to the host. Where kernels run on the CPU they never left; and a
// graph has no node for it, so from one they come but once.
void send_home(const uint32_t* data, size_t bytes, cudaStream_t stream) {
#if defined(__SIMT__)
  static_cast<void>(data), static_cast<void>(bytes), static_cast<void>(stream);
#else
  cudaStreamCaptureStatus capturing;
  CUDA_CHECK(cudaStreamIsCapturing(stream, &capturing));
  if (capturing != cudaStreamCaptureStatusNone) return;
#if CUDART_VERSION >= 13000
  const cudaMemLocation host = {cudaMemLocationTypeHost, 0};
  CUDA_CHECK(cudaMemPrefetchAsync(data, bytes, host, 0, stream));
#else
  CUDA_CHECK(cudaMemPrefetchAsync(data, bytes, cudaCpuDeviceId, stream));
#endif
#endif
}

}  // namespace

HostCopy::HostCopy(const uint32_t* device, size_t bytes, Kind kind, cudaStream_t stream) : kind_(kind) {
  if (kind == Kind::kPageable) data_ = new uint32_t[bytes / sizeof(uint32_t)];
  if (kind == Kind::kPinned) CUDA_CHECK(cudaMallocHost(&data_, bytes));
  if (kind == Kind::kManaged) CUDA_CHECK(cudaMallocManaged(&data_, bytes));
  std::vector<uint32_t> values(bytes / sizeof(uint32_t));
  CUDA_CHECK(cudaMemcpyAsync(values.data(), device, bytes, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  std::memcpy(data_, values.data(), bytes);  // by the CPU: managed pages are the host's now
}
HostCopy::~HostCopy() {
  if (kind_ == Kind::kPageable) delete[] data_;
  if (kind_ == Kind::kPinned) static_cast<void>(cudaFreeHost(data_));
  if (kind_ == Kind::kManaged) static_cast<void>(cudaFree(data_));
}

HostCopy fetch_pageable_setup(const Fetch<uint32_t>& p, cudaStream_t stream) {
  return {p.x, bytes_of(p, "pageable"), HostCopy::Kind::kPageable, stream};
}
HostCopy fetch_pinned_setup(const Fetch<uint32_t>& p, cudaStream_t stream) {
  return {p.x, bytes_of(p, "pinned"), HostCopy::Kind::kPinned, stream};
}
HostCopy fetch_managed_setup(const Fetch<uint32_t>& p, cudaStream_t stream) {
  return {p.x, bytes_of(p, "managed"), HostCopy::Kind::kManaged, stream};
}

void fetch_pageable(const Fetch<uint32_t>& p, cudaStream_t stream) {
  const size_t bytes = bytes_of(p, "pageable");
  CUDA_CHECK(
      cudaMemcpyAsync(p.y, p.setup.get<HostCopy>("pageable").data(), bytes, cudaMemcpyHostToDevice, stream));
}
void fetch_pinned(const Fetch<uint32_t>& p, cudaStream_t stream) {
  const size_t bytes = bytes_of(p, "pinned");
  CUDA_CHECK(
      cudaMemcpyAsync(p.y, p.setup.get<HostCopy>("pinned").data(), bytes, cudaMemcpyHostToDevice, stream));
}
void fetch_mapped(const Fetch<uint32_t>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of(p, "mapped");
  read_kernel<<<blocks, kThreads, 0, stream>>>(p.setup.get<HostCopy>("mapped").data(), p.y, p.n);
  CUDA_CHECK_LAUNCH();
}
void fetch_managed(const Fetch<uint32_t>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of(p, "managed");
  days::require_needs(p, "managed", kMigrates);
  const uint32_t* const x = p.setup.get<HostCopy>("managed").data();
  send_home(x, bytes_of(p, "managed"), stream);
  read_kernel<<<blocks, kThreads, 0, stream>>>(x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day59
