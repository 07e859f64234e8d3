// SPDX-License-Identifier: MIT
// How fast each pair of a head turns, in double: what tables, turns and the reference are made of. Host code only.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace day46 {

inline constexpr double kPi = 3.14159265358979323846;

// How frequencies are changed for contexts longer than a model was trained on.
struct Scaling {
  enum Kind : int32_t {
    kNone,    // base^(-2 i / dim)
    kLinear,  // all of them divided by factor: as if positions were that much closer together
    kNtk,     // a larger base, so that the slowest pair is divided by factor and the fastest by nothing
    kLlama3  // divided by factor where a turn takes longer than the trained context, not at all where it is short, and
             // in between by a mix of the two (Llama 3.1)
  };
  Kind kind = kNone;
  double base = 10000;
  double factor = 1;         // all but kNone: how much longer contexts are, at least 1
  double trained = 8192;     // kLlama3: the context that the model was trained on
  double low = 1, high = 4;  // kLlama3: turns within it, below which all and from which nothing is divided
};

// Radians that pair i of dim / 2 turns from a position to the next.
inline double frequency(const Scaling& scaling, int64_t i, int64_t dim) {
  const double exponent = -2 * static_cast<double>(i) / static_cast<double>(dim);
  const double plain = std::pow(scaling.base, exponent);
  switch (scaling.kind) {
    case Scaling::kLinear:
      return plain / scaling.factor;
    case Scaling::kNtk: {
      // With two numbers in a head there is one pair, which is the fastest.
      if (dim == 2) return plain;
      const double wide = static_cast<double>(dim) / static_cast<double>(dim - 2);
      return std::pow(scaling.base * std::pow(scaling.factor, wide), exponent);
    }
    case Scaling::kLlama3: {
      const double within = scaling.trained * plain / (2 * kPi);  // turns within the trained context
      if (within >= scaling.high) return plain;
      if (within <= scaling.low) return plain / scaling.factor;
      const double mix = (within - scaling.low) / (scaling.high - scaling.low);
      return (1 - mix) * plain / scaling.factor + mix * plain;
    }
    case Scaling::kNone:
      break;
  }
  return plain;
}

// A frequency as turns, not radians, to a position: the sum of two floats, which has 48 binary digits.
struct Turns {
  float high, low;
};
inline Turns turns_of(double frequency) {
  const double turns = frequency / (2 * kPi);
  const float high = static_cast<float>(turns);
  return {high, static_cast<float>(turns - static_cast<double>(high))};
}

}  // namespace day46
