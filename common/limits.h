// SPDX-License-Identifier: MIT
//
// What this device can do at the most, measured: bytes a second from and to its memory by the mix of reads
// and writes, and operations a second by instruction. Each is the best of a few kernels that do nothing else
// (harness.cu). The CPU backend claims no limit: a kernel's speed there says nothing about a GPU.
#pragma once

#include <optional>
#include <vector>

#include "common/ladder.h"

namespace days {

// Bytes read to bytes written.
enum class Mix { kRead, kWrite, kCopy, kTwoToOne, kThreeToOne, kOneToThree };
inline constexpr Mix kMixes[] = {Mix::kRead,     Mix::kWrite,      Mix::kCopy,
                                 Mix::kTwoToOne, Mix::kThreeToOne, Mix::kOneToThree};

// "read-only", "write-only", "copy", "2:1 mix" (two bytes read for each one written), "3:1 mix",
// "1:3 mix"
const char* mix_name(Mix mix);
// The mix that a problem's traffic is nearest to.
Mix mix_of(const Traffic& traffic);
// "FFMA", "mma fp16", ...
const char* rate_name(Rate rate);

struct Ceiling {
  double burst = 0;      // bytes or operations a second: the best of single launches, after a rest
  double sustained = 0;  // the same after the device has been busy for a while, when its clocks have settled
                         // under the power and the heat; 0: not measured
};

// Measures on the current device, in some tens of milliseconds. With `busy` seconds also the sustained
// ceiling, after that long at work (twice that long for a bandwidth). nullopt on the CPU backend. Uses up to
// 4 GiB, at most a quarter of what is free.
std::optional<Ceiling> bandwidth_limit(Mix mix, double busy = 0);
// A multiplication with an addition counts as two operations. nullopt also where the device lacks the
// instruction, or this program its code: wgmma is in code for 90a alone, fp8's mma.sync from 8.9 on.
std::optional<Ceiling> rate_limit(Rate rate, double busy = 0);

}  // namespace days
