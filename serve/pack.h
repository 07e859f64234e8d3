// SPDX-License-Identifier: MIT
//
// Matrices of fewer bits, as the products of step.h read them. Host code.
#pragma once

#include <cstdint>
#include <vector>

namespace serve {

struct Packed {
  std::vector<uint32_t> words;  // four of them for each lane of a warp
  std::vector<float> scales;    // in the order in which they are read
  std::vector<float> values;    // (out, in): what the matrix is now
};

// Four bits: a row's groups of 128 elements have a scale each, which is rounded to T; an element is one of the 16 multiples of it from -8 to
// 7. gate: rows i and out / 2 + i are read together (Finish::kGate). A scale is for 8 rows of a group, group after group.
template <class T>
Packed pack4(const std::vector<float>& w, int out, int in, bool gate);
// Eight bits: each row has a scale in fp32, and its elements are -127 to 127 times that.
Packed pack8(const std::vector<float>& w, int out, int in);

}  // namespace serve
