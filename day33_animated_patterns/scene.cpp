// SPDX-License-Identifier: MIT
#include "day33_animated_patterns/scene.h"

namespace day33 {
namespace {

// A number from 0 to `below`, of a hash: the same animation on every machine.
int pick(uint32_t& state, int below) {
  state = state * 747796405u + 2891336453u;
  const uint32_t word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
  return static_cast<int>(((word >> 22) ^ word) % static_cast<uint32_t>(below));
}

// Colours at even distances, straight lines between them.
days::Palette blend(const std::vector<std::array<int, 3>>& stops) {
  days::Palette palette;
  for (int i = 0; i < 256; ++i) {
    const double at = i / 255.0 * static_cast<double>(stops.size() - 1);
    const size_t first = std::min(static_cast<size_t>(at), stops.size() - 2);
    const double part = at - static_cast<double>(first);
    for (size_t c = 0; c < 3; ++c)
      palette.colors[i][c] = days::to_pixel((1 - part) * stops[first][c] + part * stops[first + 1][c]);
  }
  return palette;
}

}  // namespace

std::vector<float> first_surface(int width, int height) {
  const size_t across = static_cast<size_t>(width);
  std::vector<float> surface(across * static_cast<size_t>(height), 0.0f);
  uint32_t state = 33;
  const int drops = 2 + static_cast<int>(surface.size() / 20000);
  const int reach = 12;  // cells; a drop is a bell of a quarter of that
  for (int drop = 0; drop < drops; ++drop) {
    const int x0 = pick(state, width), y0 = pick(state, height);
    for (int y = std::max(0, y0 - reach); y <= std::min(height - 1, y0 + reach); ++y) {
      for (int x = std::max(0, x0 - reach); x <= std::min(width - 1, x0 + reach); ++x) {
        const float far = static_cast<float>((x - x0) * (x - x0) + (y - y0) * (y - y0));
        surface[static_cast<size_t>(y) * across + static_cast<size_t>(x)] += 2 * std::exp(-far / 18);
      }
    }
  }
  return surface;
}

std::pair<std::vector<float>, std::vector<float>> first_substances(int width, int height) {
  const size_t across = static_cast<size_t>(width), count = across * static_cast<size_t>(height);
  std::vector<float> u(count, 1.0f), v(count, 0.0f);
  uint32_t state = 1984;
  const int pieces = 1 + static_cast<int>(count / 1500), side = 6;
  for (int piece = 0; piece < pieces; ++piece) {
    const int x0 = pick(state, width), y0 = pick(state, height);
    for (int y = y0; y < std::min(height, y0 + side); ++y) {
      for (int x = x0; x < std::min(width, x0 + side); ++x) {
        const size_t i = static_cast<size_t>(y) * across + static_cast<size_t>(x);
        u[i] = 0.5f;
        v[i] = 0.25f;
      }
    }
  }
  return {u, v};
}

days::Palette palette_of(const std::string& pattern) {
  if (pattern == "waves")
    return blend({{2, 18, 60}, {8, 74, 140}, {40, 140, 190}, {190, 230, 240}, {255, 255, 255}});
  if (pattern == "gray_scott")
    return blend({{8, 12, 40}, {20, 90, 120}, {60, 170, 130}, {220, 220, 110}, {255, 250, 230}});
  if (pattern == "plasma")
    return blend(
        {{40, 10, 90}, {150, 30, 130}, {240, 90, 80}, {250, 190, 70}, {250, 250, 190}, {60, 180, 170}});
  // A count is a band: the colours come round again, so that near counts stay apart. What never leaves is black.
  days::Palette palette = blend({{10, 10, 50},
                                 {40, 110, 190},
                                 {240, 240, 220},
                                 {240, 160, 20},
                                 {90, 20, 10},
                                 {10, 10, 50},
                                 {40, 110, 190},
                                 {240, 240, 220},
                                 {240, 160, 20},
                                 {90, 20, 10},
                                 {10, 10, 50}});
  for (unsigned char& channel : palette.colors[255]) channel = 0;
  return palette;
}

Mandelbrot<float> zoom(const Request& request, int number) {
  const double part = request.frames > 1 ? static_cast<double>(number) / (request.frames - 1) : 0;
  const double across = kFarthest * std::pow(static_cast<double>(kNearest) / kFarthest, part);
  const double step = across / std::max(request.width, request.height);
  // From the set's middle to a place at its border where arms wind.
  const double blend = 1 - (across - kNearest) / (kFarthest - kNearest);
  const double re = -0.5 + blend * (-0.743643 + 0.5), im = blend * 0.131825;
  return {nullptr,
          request.width,
          request.height,
          static_cast<float>(re - step * 0.5 * request.width),
          static_cast<float>(im - step * 0.5 * request.height),
          static_cast<float>(step),
          kMostCounts};
}

}  // namespace day33
