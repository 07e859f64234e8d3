// SPDX-License-Identifier: MIT
//
// Inline PTX: video instructions, which work on the bytes or halves of a word.
#include <algorithm>

#include "program.h"

namespace simt::ptx_code {
namespace {

using Lanewise = std::int64_t (*)(std::int64_t, std::int64_t);

// Lane `i` of a word, as the type says signed or not.
std::int64_t lane_of(std::uint64_t word, int i, int bits, Type type) {
  const auto lane = static_cast<std::int64_t>(word >> i * bits & ((1u << bits) - 1));
  return type.kind == 's' && lane >> (bits - 1) ? lane - (std::int64_t{1} << bits) : lane;
}

std::int64_t saturated(std::int64_t value, int bits, Type type) {
  const std::int64_t least = type.kind == 's' ? -(std::int64_t{1} << (bits - 1)) : 0;
  const std::int64_t most = (std::int64_t{1} << (type.kind == 's' ? bits - 1 : bits)) - 1;
  return std::clamp(value, least, most);
}

// vadd4.dtype.atype.btype{.sat} d, a, b, c: each lane of a and b; with .add the lanes' sum is added to c.
Step video(const Instruction& in, int bits, Lanewise operation) {
  const Type result = in.type(0), first = in.type(1), second = in.type(2);
  const Operand d = in.operand(0), a = in.operand(1), b = in.operand(2), c = in.operand(3);
  const bool saturate = in.has("sat"), sum_up = in.has("add");
  return [=](Frame& f) {
    const std::uint64_t x = read(f, a), y = read(f, b);
    std::uint64_t lanes = 0, sum = read(f, c);
    for (int i = 0; i < 32 / bits; ++i) {
      std::int64_t value = operation(lane_of(x, i, bits, first), lane_of(y, i, bits, second));
      if (saturate) value = saturated(value, bits, result);
      sum += static_cast<std::uint64_t>(value);
      lanes |= (static_cast<std::uint64_t>(value) & ((1u << bits) - 1)) << i * bits;
    }
    write(f, d, (sum_up ? sum : lanes) & 0xffffffffu);
  };
}

std::int64_t plus(std::int64_t a, std::int64_t b) {
  return a + b;
}
std::int64_t minus(std::int64_t a, std::int64_t b) {
  return a - b;
}
// Rounded away from zero.
std::int64_t average(std::int64_t a, std::int64_t b) {
  return a + b >= 0 ? (a + b + 1) >> 1 : -((-(a + b) + 1) >> 1);
}
std::int64_t distance(std::int64_t a, std::int64_t b) {
  return a > b ? a - b : b - a;
}
std::int64_t least(std::int64_t a, std::int64_t b) {
  return std::min(a, b);
}
std::int64_t most(std::int64_t a, std::int64_t b) {
  return std::max(a, b);
}

}  // namespace

void add_video(Builders& b) {
  b["vadd4"] = [](const Instruction& in) { return video(in, 8, plus); };
  b["vadd2"] = [](const Instruction& in) { return video(in, 16, plus); };
  b["vsub4"] = [](const Instruction& in) { return video(in, 8, minus); };
  b["vsub2"] = [](const Instruction& in) { return video(in, 16, minus); };
  b["vavrg4"] = [](const Instruction& in) { return video(in, 8, average); };
  b["vavrg2"] = [](const Instruction& in) { return video(in, 16, average); };
  b["vabsdiff4"] = [](const Instruction& in) { return video(in, 8, distance); };
  b["vabsdiff2"] = [](const Instruction& in) { return video(in, 16, distance); };
  b["vmin4"] = [](const Instruction& in) { return video(in, 8, least); };
  b["vmin2"] = [](const Instruction& in) { return video(in, 16, least); };
  b["vmax4"] = [](const Instruction& in) { return video(in, 8, most); };
  b["vmax2"] = [](const Instruction& in) { return video(in, 16, most); };
}

}  // namespace simt::ptx_code
