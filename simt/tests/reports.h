// SPDX-License-Identifier: MIT
//
// For tests that plant a mistake and read what the CPU backend says of it.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <string>

#include "simt/runtime.h"

// What one call reports: exactly one report, after which the device is as new. In normal order, whatever
// SIMT_ORDER says: which thread comes first to a mistake depends on it.
template <class Call>
std::string report_of(Call call) {
  simt::set_order(simt::Order::normal);
  simt::forget_reports();
  testing::internal::CaptureStderr();
  call();
  cudaDeviceSynchronize();
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(simt::reports(), 1) << text;
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  cudaGetLastError();
  simt::forget_reports();
  simt::reset_order();
  return text;
}

#define EXPECT_HAS(text, part) \
  EXPECT_NE((text).find(part), std::string::npos) << (text) << "lacks: " << (part)
