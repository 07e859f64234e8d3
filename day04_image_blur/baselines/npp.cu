// SPDX-License-Identifier: MIT
//
// NPP's filters with the day's own weights and a clamped border. They round by rules of their own.

#include <nppi_filtering_functions.h>

#include <map>

#include "common/buffer.h"
#include "common/ladder.h"
#include "common/npp.h"
#include "day04_image_blur/blur.h"
#include "day04_image_blur/weights.h"

namespace day04 {
namespace {

template <class T>
void check_problem(const Blur<T>& p) {
  require_extents(p, "NPP");
  days::require(p.border == Border::kClamp, "NPP: only a clamped border");
  days::require(p.radius <= 15 && 2 * p.radius < p.height && 2 * p.radius < p.width,
                "NPP: radius must be at most 15 and below half of height and width, not", p.radius);
}

// The weights as fractions of 1, on the device. Made at the first call, which is a warm-up.
const float* unit_weights(int radius) {
  static std::map<int, days::DeviceBuffer<float>> kept;
  const auto found = kept.find(radius);
  if (found != kept.end()) return found->second.data();
  std::vector<float> weights = gaussian_weights(radius);
  for (float& weight : weights) weight /= kUnit;
  return (kept[radius] = days::DeviceBuffer<float>(weights)).data();
}

template <class T, class Filter>
void each_plane(const Blur<T>& p, cudaStream_t stream, const Filter& filter) {
  check_problem(p);
  const NppStreamContext context = days::npp_context(stream);
  const NppiSize size{p.width, p.height};
  const int step = p.width * static_cast<int>(sizeof(T));
  for (int plane = 0; plane < p.planes; ++plane)
    filter(p.image + plane * p.plane(), p.blurred + plane * p.plane(), step, size, context);
}

void box_npp(const Blur<uint8_t>& p, cudaStream_t stream) {
  each_plane(
      p, stream, [&](const Npp8u* from, Npp8u* to, int step, NppiSize size, const NppStreamContext& context) {
        const int side = 2 * p.radius + 1;
        NPP_CHECK(nppiFilterBoxBorder_8u_C1R_Ctx(from, step, size, {0, 0}, to, step, size, {side, side},
                                                 {p.radius, p.radius}, NPP_BORDER_REPLICATE, context));
      });
}

void gauss_npp(const Blur<uint8_t>& p, cudaStream_t stream) {
  each_plane(p, stream,
             [&](const Npp8u* from, Npp8u* to, int step, NppiSize size, const NppStreamContext& context) {
               NPP_CHECK(nppiFilterGaussAdvancedBorder_8u_C1R_Ctx(from, step, size, {0, 0}, to, step, size,
                                                                  2 * p.radius + 1, unit_weights(p.radius),
                                                                  NPP_BORDER_REPLICATE, context));
             });
}

}  // namespace

REGISTER_BASELINE(Blur, "box_blur", "NPP", LAUNCHER(box_npp), uint8_t);
REGISTER_BASELINE(Blur, "gaussian_blur", "NPP", LAUNCHER(gauss_npp), uint8_t);

}  // namespace day04
