// SPDX-License-Identifier: MIT
//
// n elements that host and device share, each T() at first, for the tests of CUDA's C++ library.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <vector>

template <class T>
class Managed {
 public:
  explicit Managed(size_t n) : size_(n) {
    EXPECT_EQ(cudaMallocManaged(&data_, n * sizeof(T)), cudaSuccess);
    for (size_t i = 0; i < n; ++i) data_[i] = T();
  }
  ~Managed() { EXPECT_EQ(cudaFree(data_), cudaSuccess); }
  T* get() const { return data_; }
  T& operator[](size_t i) const { return data_[i]; }
  std::vector<T> all() const { return std::vector<T>(data_, data_ + size_); }

 private:
  T* data_ = nullptr;
  size_t size_;
};
