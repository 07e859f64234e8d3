// SPDX-License-Identifier: MIT
//
// NPP's rotation, which takes any angle, with the nearest pixel for each: after a quarter it has nothing to choose. It turns about the pixel
// at (0, 0), counterclockwise as seen on a screen, and shifts what has left the picture back into it. For 180 degrees it has a mirror
// about both axes. Neither is there in place for a quarter.

#include <nppi_geometry_transforms.h>

#include "common/ladder.h"
#include "common/npp.h"
#include "day58_matrix_rotation/rotation.h"

namespace day58 {
namespace {

// Widths whose rows have fewer than 2^31 bytes: NPP counts them in an int.
template <class T>
void require_npp(const Rotate<T>& p) {
  constexpr int kMost = INT32_MAX / static_cast<int>(sizeof(T));
  days::require(p.width <= kMost && p.height <= kMost, "NPP: a row has fewer than 2^31 bytes; width is",
                p.width);
}

template <class T>
void quarter_npp(const Rotate<T>& p, cudaStream_t stream) {
  require_quarter(p, "NPP");
  require_npp(p);
  days::require_needs(p, "NPP", kTwoEachWay);
  const NppiSize size{p.width, p.height};
  const NppiRect from{0, 0, p.width, p.height}, to{0, 0, p.out_width(), p.out_height()};
  const int from_step = p.width * static_cast<int>(sizeof(T)),
            to_step = p.out_width() * static_cast<int>(sizeof(T));
  const double angle = 90.0 * p.quarters;
  const double shift_x = p.quarters == 3 ? p.height - 1 : 0, shift_y = p.quarters == 1 ? p.width - 1 : 0;
  const auto in = reinterpret_cast<const Npp8u*>(p.in);
  const auto out = reinterpret_cast<Npp8u*>(p.out);
  const NppStreamContext context = days::npp_context(stream);
  if constexpr (sizeof(T) == 1) {
    NPP_CHECK(nppiRotate_8u_C1R_Ctx(in, size, from_step, from, out, to_step, to, angle, shift_x, shift_y,
                                    NPPI_INTER_NN, context));
  } else {
    NPP_CHECK(nppiRotate_8u_C4R_Ctx(in, size, from_step, from, out, to_step, to, angle, shift_x, shift_y,
                                    NPPI_INTER_NN, context));
  }
}

template <class T>
void half_npp(const Rotate<T>& p, cudaStream_t stream) {
  require_half(p, "NPP");
  require_npp(p);
  const NppiSize size{p.width, p.height};
  const int step = p.width * static_cast<int>(sizeof(T));
  const auto in = reinterpret_cast<const Npp8u*>(p.in);
  const auto out = reinterpret_cast<Npp8u*>(p.out);
  const NppStreamContext context = days::npp_context(stream);
  if constexpr (sizeof(T) == 1) {
    NPP_CHECK(nppiMirror_8u_C1R_Ctx(in, step, out, step, size, NPP_BOTH_AXIS, context));
  } else {
    NPP_CHECK(nppiMirror_8u_C4R_Ctx(in, step, out, step, size, NPP_BOTH_AXIS, context));
  }
}

}  // namespace

REGISTER_BASELINE(Rotate, "quarter", "NPP", LAUNCHER(quarter_npp), uint32_t, uint8_t);
REGISTER_BASELINE(Rotate, "half", "NPP", LAUNCHER(half_npp), uint32_t, uint8_t);

}  // namespace day58
