// SPDX-License-Identifier: MIT
// What the rungs of `fetch` have set up: their input in memory of the host, of three kinds.
#include <cstring>
#include <vector>

#include "day59_memory_hierarchy/memory.h"

namespace day59 {

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

}  // namespace day59
