// SPDX-License-Identifier: MIT
//
// What the tests of checked builds share.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "apart.h"

namespace checked {

// A kernel's report, with threads in the given order; "" where it gave none. Leaves a clean device.
template <class Call>
std::string report_of(Call call, simt::Order order = simt::Order::normal) {
  simt::forget_reports();
  simt::set_order(order);
  testing::internal::CaptureStderr();
  call();
  static_cast<void>(cudaDeviceSynchronize());
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(simt::reports(), text.empty() ? 0 : 1) << text;
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  simt::forget_reports();
  simt::reset_order();
  return text;
}

constexpr simt::Order kOrders[] = {simt::Order::normal, simt::Order::reversed, simt::Order::shuffle};

template <class T>
T* device(int n, bool initialised = true) {
  T* p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, n * sizeof(T)), cudaSuccess);
  if (initialised) {
    EXPECT_EQ(cudaMemset(p, 0, n * sizeof(T)), cudaSuccess);
  }
  return p;
}

// Runs the disabled test CheckedApart.DISABLED_<test> of this program in a process of its own, which the
// report ends.
inline std::string run_apart(const std::string& test, int* status) {
  return apart::run("", "CheckedApart", test, status);
}

}  // namespace checked

#define SKIP_UNLESS_CHECKED() \
  if (!simt::checked_build) GTEST_SKIP() << "a checked build finds this"
