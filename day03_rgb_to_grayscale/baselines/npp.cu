// SPDX-License-Identifier: MIT
//
// NPP, NVIDIA's library of image functions. Its nppiRGBToGray has weights of its own; ColorToGray takes ours,
// as floats, which hold them exactly. Bytes alone: for floats NPP 13.0 counts bytes in 32 bits and faults on
// a picture of 3 GiB, and it turns infinities into the largest float.

#include <nppi_color_conversion.h>

#include "common/ladder.h"
#include "common/npp.h"
#include "day03_rgb_to_grayscale/grayscale.h"

namespace day03 {
namespace {

constexpr int kMostWidth = 715827882;  // whose rows have fewer than 2^31 bytes
constexpr float kWeights[3] = {kRed / 256.0f, kGreen / 256.0f, kBlue / 256.0f};

void grayscale_npp(const Grayscale<uint8_t>& p, cudaStream_t stream) {
  require_extents(p, "NPP");
  days::require(p.width < kMostWidth, "NPP: a row has fewer than 2^31 bytes; width is", p.width);
  NPP_CHECK(nppiColorToGray_8u_C3C1R_Ctx(p.rgb, 3 * p.width, p.gray, p.width, {p.width, p.height}, kWeights,
                                         days::npp_context(stream)));
}

}  // namespace

REGISTER_BASELINE(Grayscale, "grayscale", "NPP", LAUNCHER(grayscale_npp), uint8_t);

}  // namespace day03
