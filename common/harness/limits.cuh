// SPDX-License-Identifier: MIT
//
// Part of harness.cu: finds the device's ceilings, the best of a few ways to run limit_kernels.cuh.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <vector>

#include "common/buffer.h"
#include "common/check.h"
#include "common/device.h"
#include "common/harness/limit_kernels.cuh"
#include "common/limits.h"
#include "common/timing.h"
#include "common/util.h"

namespace days {

const char* mix_name(Mix mix) {
  switch (mix) {
    case Mix::kRead:
      return "read-only";
    case Mix::kWrite:
      return "write-only";
    case Mix::kCopy:
      return "copy";
    case Mix::kTwoToOne:
      return "2:1 mix";
    case Mix::kThreeToOne:
      return "3:1 mix";
    case Mix::kOneToThree:
      return "1:3 mix";
  }
  return "";
}

Mix mix_of(const Traffic& traffic) {
  const double read =
      traffic.bytes() > 0 ? traffic.read / traffic.bytes() : 0.5;  // 0, 1/4, 1/2, 2/3, 3/4 and 1 are measured
  if (read < 0.5 * (1.0 / 4)) return Mix::kWrite;
  if (read < 0.5 * (1.0 / 4 + 1.0 / 2)) return Mix::kOneToThree;
  if (read < 0.5 * (1.0 / 2 + 2.0 / 3)) return Mix::kCopy;
  if (read < 0.5 * (2.0 / 3 + 3.0 / 4)) return Mix::kTwoToOne;
  if (read < 0.5 * (3.0 / 4 + 1)) return Mix::kThreeToOne;
  return Mix::kRead;
}

const char* rate_name(Rate rate) {
  switch (rate) {
    case Rate::kNone:
      return "none";
    case Rate::ffma:
      return "FFMA";
    case Rate::mma_fp16:
      return "mma fp16";
    case Rate::mma_bf16:
      return "mma bf16";
    case Rate::mma_tf32:
      return "mma tf32";
    case Rate::mma_int8:
      return "mma int8";
    case Rate::mma_fp8:
      return "mma fp8";
    case Rate::wgmma_fp16:
      return "wgmma fp16";
    case Rate::wgmma_bf16:
      return "wgmma bf16";
    case Rate::wgmma_tf32:
      return "wgmma tf32";
    case Rate::wgmma_int8:
      return "wgmma int8";
    case Rate::wgmma_fp8:
      return "wgmma fp8";
    case Rate::by_type:
      return "by type";
    case Rate::wgmma_by_type:
      return "wgmma by type";
  }
  return "";
}

namespace detail {

// The best of `candidates` in seconds. One run of each finds the best three, which run `rounds` times more.
inline double best_seconds(const std::vector<std::function<void(cudaStream_t)>>& candidates, size_t rounds) {
  Stream stream;
  EventTimer timer;
  const auto time = [&](size_t i) {
    timer.start(stream);
    candidates[i](stream);
    timer.stop(stream);
    return timer.seconds();
  };
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < candidates.size(); ++i) {
    time(i);  // the first run loads the kernel
    order.push_back({time(i), i});
  }
  std::sort(order.begin(), order.end());
  order.resize(std::min<size_t>(order.size(), 3));
  for (size_t round = 0; round < rounds; ++round) {
    for (auto& [seconds, i] : order) seconds = std::min(seconds, time(i));
  }
  return std::min_element(order.begin(), order.end())->first;
}

// The median of the last runs after the device has been busy with this one for `busy` seconds.
inline double sustained_seconds(const std::function<void(cudaStream_t)>& run, double busy) {
  Stream stream;
  EventTimer timer;
  std::vector<double> seconds;
  double spent = 0;
  while (spent < busy || seconds.size() < 20) {
    timer.start(stream);
    run(stream);
    timer.stop(stream);
    seconds.push_back(timer.seconds());
    spent += seconds.back();
  }
  return median(
      {seconds.end() - static_cast<ptrdiff_t>(std::min<size_t>(seconds.size(), 50)), seconds.end()});
}

template <Mix kMix, int kUnroll>
void add_candidates(std::vector<std::function<void(cudaStream_t)>>& candidates, float4* buffer, size_t each) {
  for (const int threads : {128, 256, 512}) {
    candidates.push_back([=](cudaStream_t stream) {
      const size_t piece = static_cast<size_t>(threads) * kUnroll;
      const unsigned blocks = static_cast<unsigned>(each / piece);
      float4* out = kMix == Mix::kRead || kMix == Mix::kWrite        ? buffer
                    : kMix == Mix::kCopy || kMix == Mix::kOneToThree ? buffer + each
                    : kMix == Mix::kTwoToOne                         ? buffer + 2 * each
                                                                     : buffer + 3 * each;
      bandwidth_kernel<kMix, kUnroll>
          <<<blocks, threads, 0, stream>>>(buffer, buffer + each, buffer + 2 * each, out, each);
      CUDA_CHECK_LAUNCH();
    });
  }
}

// How many equal arrays a mix moves.
inline size_t arrays_of(Mix mix) {
  switch (mix) {
    case Mix::kRead:
    case Mix::kWrite:
      return 1;
    case Mix::kCopy:
      return 2;
    case Mix::kTwoToOne:
      return 3;
    case Mix::kThreeToOne:
    case Mix::kOneToThree:
      return 4;
  }
  return 0;
}

// Every way of moving the mix through `buffer`, whose arrays hold `each` float4s: a multiple of 4096, a
// block's largest piece.
template <Mix kMix>
std::vector<std::function<void(cudaStream_t)>> bandwidth_candidates(float4* buffer, size_t each) {
  std::vector<std::function<void(cudaStream_t)>> candidates;
  add_candidates<kMix, 1>(candidates, buffer, each);
  add_candidates<kMix, 2>(candidates, buffer, each);
  add_candidates<kMix, 4>(candidates, buffer, each);
  add_candidates<kMix, 8>(candidates, buffer, each);
  if (kMix == Mix::kWrite) {
    candidates.push_back(
        [=](cudaStream_t s) { CUDA_CHECK(cudaMemsetAsync(buffer, 0, each * sizeof(float4), s)); });
  }
  if (kMix == Mix::kCopy) {
    candidates.push_back([=](cudaStream_t s) {
      CUDA_CHECK(cudaMemcpyAsync(buffer + each, buffer, each * sizeof(float4), cudaMemcpyDeviceToDevice, s));
    });
  }
  return candidates;
}

inline std::vector<std::function<void(cudaStream_t)>> bandwidth_candidates(Mix mix, float4* buffer,
                                                                           size_t each) {
  switch (mix) {
    case Mix::kRead:
      return bandwidth_candidates<Mix::kRead>(buffer, each);
    case Mix::kWrite:
      return bandwidth_candidates<Mix::kWrite>(buffer, each);
    case Mix::kCopy:
      return bandwidth_candidates<Mix::kCopy>(buffer, each);
    case Mix::kTwoToOne:
      return bandwidth_candidates<Mix::kTwoToOne>(buffer, each);
    case Mix::kThreeToOne:
      return bandwidth_candidates<Mix::kThreeToOne>(buffer, each);
    case Mix::kOneToThree:
      return bandwidth_candidates<Mix::kOneToThree>(buffer, each);
  }
  return {};
}

struct FmaLaunch {
  int chains, threads, blocks_each;  // blocks_each: a multiprocessor
  double operations() const { return 2.0 * chains * threads * blocks_each * multiprocessors() * kFmaSteps; }
  void operator()(float* out, cudaStream_t stream) const {
    const int blocks = blocks_each * multiprocessors();
    if (chains == 4) {
      ffma_kernel<4><<<blocks, threads, 0, stream>>>(out, 0.999f, 0.001f, -1.0f);
      CUDA_CHECK_LAUNCH();
    } else {
      ffma_kernel<8><<<blocks, threads, 0, stream>>>(out, 0.999f, 0.001f, -1.0f);
      CUDA_CHECK_LAUNCH();
    }
  }
};

template <Rate kRate>
struct MmaLaunch {
  int threads, blocks_each;
  double operations() const {
    return 2.0 * 16 * 8 * depth_of(kRate) * kMmaChains * kMmaSteps * (threads / kWarpSize) * blocks_each *
           multiprocessors();
  }
  void operator()(float* out, cudaStream_t stream) const {
    mma_kernel<kRate><<<blocks_each * multiprocessors(), threads, 0, stream>>>(out, -1.0f);
    CUDA_CHECK_LAUNCH();
  }
};

template <Rate kRate>
struct WgmmaLaunch {
  double operations() const {
    return 2.0 * 64 * 256 * depth_of(kRate) * kWgmmaRepeats * kWgmmaSlices * kWgmmaSteps * kWgmmaGroups *
           multiprocessors();
  }
  void operator()(float* out, cudaStream_t stream) const {
    wgmma_kernel<kRate><<<multiprocessors(), kWgmmaGroups * 128, 0, stream>>>(out, -1.0f);
    CUDA_CHECK_LAUNCH();
  }
};

// The best of the launches, of which the first is the one that is kept up for `busy` seconds.
template <class Launch>
Ceiling best_rate(std::initializer_list<Launch> launches, double busy) {
  const DeviceBuffer<float> out(1024);
  Ceiling ceiling;
  for (const Launch& launch : launches) {
    const auto run = [&](cudaStream_t stream) { launch(out.data(), stream); };
    ceiling.burst = std::max(ceiling.burst, launch.operations() / best_seconds({run}, 8));
    if (busy > 0 && &launch == launches.begin())
      ceiling.sustained = launch.operations() / sustained_seconds(run, busy);
  }
  return ceiling;
}

template <Rate kRate>
Ceiling mma_limit(double busy) {
  return best_rate<MmaLaunch<kRate>>({{256, 2}, {128, 4}, {512, 1}}, busy);
}
template <Rate kRate>
Ceiling wgmma_limit(double busy) {
  return best_rate<WgmmaLaunch<kRate>>({{}}, busy);
}

// Whether this program's kernels hold wgmma, which code for 90a alone has, and this device runs it.
inline bool has_wgmma() {
  static const bool has = [] {
    if (!sm_90a.met(current_device())) return false;
    const DeviceBuffer<float> out(1);
    has_wgmma_kernel<<<1, 1>>>(out.data());
    CUDA_CHECK_LAUNCH();
    return out.download()[0] == 1;
  }();
  return has;
}

inline bool has_rate(Rate rate) {
  const Device& device = current_device();
  const auto on = [&](const Requirement& needs) { return needs.met(device) && device.code >= needs.code; };
  switch (rate) {
    case Rate::ffma:
    case Rate::mma_fp16:
    case Rate::mma_int8:
      return true;  // from 7.5 on, where this course begins
    case Rate::mma_bf16:
    case Rate::mma_tf32:
      return on(sm_80);
    case Rate::mma_fp8:
      return on(sm_89);
    default:
      return has_wgmma();
  }
}

}  // namespace detail

std::optional<Ceiling> bandwidth_limit(Mix mix, double busy) {
  if (current_device().simt) return std::nullopt;
  size_t free = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  const size_t most = std::min<size_t>(size_t{4} << 30, free / 4);
  const size_t arrays = detail::arrays_of(mix), each = most / arrays / sizeof(float4) / 4096 * 4096;
  const double bytes = static_cast<double>(arrays * each * sizeof(float4));
  const DeviceMemory memory(arrays * each * sizeof(float4), 0);
  const auto candidates = detail::bandwidth_candidates(mix, static_cast<float4*>(memory.data()), each);
  const double best = detail::best_seconds(candidates, 8);
  Ceiling ceiling{bytes / best, 0};
  if (busy > 0) {
    double least = 0;  // the candidate that is best in a burst may not be so later, but they differ by little
    for (const auto& candidate : {candidates[3], candidates[6]}) {
      const double seconds = detail::sustained_seconds(candidate, busy);
      least = least == 0 ? seconds : std::min(least, seconds);
    }
    ceiling.sustained = bytes / least;
  }
  return ceiling;
}

std::optional<Ceiling> rate_limit(Rate rate, double busy) {
  if (current_device().simt || rate == Rate::kNone) return std::nullopt;
  require(rate != Rate::by_type && rate != Rate::wgmma_by_type, "rate_limit: name the instruction");
  if (!detail::has_rate(rate)) return std::nullopt;
  switch (rate) {
    case Rate::mma_fp16:
      return detail::mma_limit<Rate::mma_fp16>(busy);
    case Rate::mma_bf16:
      return detail::mma_limit<Rate::mma_bf16>(busy);
    case Rate::mma_tf32:
      return detail::mma_limit<Rate::mma_tf32>(busy);
    case Rate::mma_int8:
      return detail::mma_limit<Rate::mma_int8>(busy);
    case Rate::mma_fp8:
      return detail::mma_limit<Rate::mma_fp8>(busy);
    case Rate::wgmma_fp16:
      return detail::wgmma_limit<Rate::wgmma_fp16>(busy);
    case Rate::wgmma_bf16:
      return detail::wgmma_limit<Rate::wgmma_bf16>(busy);
    case Rate::wgmma_tf32:
      return detail::wgmma_limit<Rate::wgmma_tf32>(busy);
    case Rate::wgmma_int8:
      return detail::wgmma_limit<Rate::wgmma_int8>(busy);
    case Rate::wgmma_fp8:
      return detail::wgmma_limit<Rate::wgmma_fp8>(busy);
    default:
      return detail::best_rate<detail::FmaLaunch>({{8, 256, 8}, {4, 512, 4}, {8, 512, 4}, {8, 1024, 2}},
                                                  busy);
  }
}

}  // namespace days
