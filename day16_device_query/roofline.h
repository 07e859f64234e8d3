// SPDX-License-Identifier: MIT
//
// A roofline as a picture: how fast can a kernel run that does I operations for each byte it moves? No faster
// than min(rate, bandwidth x I). Both scales are logarithmic, so the bandwidth is a slope of one and each
// rate a flat roof.
#pragma once

#include <string>
#include <vector>

namespace day16 {

struct Ceiling {
  std::string name;
  double value;  // GB/s or GFLOP/s
};

struct Marker {
  std::string name;
  double intensity;  // operations for each byte moved
};

struct Roofline {
  std::string title, subtitle;
  Ceiling bandwidth;           // GB/s
  std::vector<Ceiling> rates;  // GFLOP/s; the markers are read off the first
  std::vector<Marker> markers;
};

// The most that `intensity` allows, in GFLOP/s, under the bandwidth and the first rate.
double attainable(const Roofline& roofline, double intensity);

// Where the slope meets a roof, in FLOP/byte: kernels to the left are bound by memory, to the right by
// arithmetic.
double ridge(const Roofline& roofline, const Ceiling& rate);

// The picture, on its own white card. `rates` must not be empty; all figures must be positive.
std::string roofline_svg(const Roofline& roofline);

}  // namespace day16
