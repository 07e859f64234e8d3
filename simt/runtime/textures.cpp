// SPDX-License-Identifier: MIT
//
// Reading textures as the hardware does, by "Texture Fetching" in CUDA's programming guide: a coordinate
// becomes fixed point with 8 bits of fraction before texels are weighted, out of range it follows the address
// mode, and a texel becomes 32 bits a channel.
#include "textures.h"

#include <cmath>
#include <cstring>

#include "simt/float16_bits.h"

namespace simt {
namespace {

struct Color {
  float c[4] = {0, 0, 0, 0};
};

float number_at(const char* p, Format format) {
  const auto signed_part = [](double v) { return static_cast<float>(v < -1 ? -1 : v); };
  switch (format) {
    case Format::f16: {
      std::uint16_t bits;
      std::memcpy(&bits, p, 2);
      return HalfFormat::to_float(bits);
    }
    case Format::snorm8:
      return signed_part(*reinterpret_cast<const signed char*>(p) / 127.0);
    case Format::unorm8:
      return static_cast<float>(*reinterpret_cast<const unsigned char*>(p) / 255.0);
    case Format::snorm16: {
      std::int16_t v;
      std::memcpy(&v, p, 2);
      return signed_part(v / 32767.0);
    }
    case Format::unorm16: {
      std::uint16_t v;
      std::memcpy(&v, p, 2);
      return static_cast<float>(v / 65535.0);
    }
    default: {
      float v;
      std::memcpy(&v, p, 4);
      return v;
    }
  }
}

std::uint32_t integer_at(const char* p, Format format) {
  switch (format) {
    case Format::s8:
      return static_cast<std::uint32_t>(static_cast<int>(*reinterpret_cast<const signed char*>(p)));
    case Format::u8:
      return *reinterpret_cast<const unsigned char*>(p);
    case Format::s16: {
      std::int16_t v;
      std::memcpy(&v, p, 2);
      return static_cast<std::uint32_t>(static_cast<int>(v));
    }
    case Format::u16: {
      std::uint16_t v;
      std::memcpy(&v, p, 2);
      return v;
    }
    default: {
      std::uint32_t v;
      std::memcpy(&v, p, 4);
      return v;
    }
  }
}

const char* element_at(const Elements& e, int x, int y, int z) {
  return e.data + static_cast<std::size_t>(z) * e.slice + static_cast<std::size_t>(y) * e.pitch +
         static_cast<std::size_t>(x) * e.element;
}

// The texel that a place outside shows: -1 for the border.
int addressed(int i, int n, cudaTextureAddressMode mode) {
  if (i >= 0 && i < n) return i;
  switch (mode) {
    case cudaAddressModeWrap:
      return ((i % n) + n) % n;
    case cudaAddressModeMirror: {
      const int j = ((i % (2 * n)) + 2 * n) % (2 * n);
      return j < n ? j : 2 * n - 1 - j;
    }
    case cudaAddressModeBorder:
      return -1;
    default:
      return i < 0 ? 0 : n - 1;
  }
}

// One axis of a read: two neighbours and the weight of the second in 1/256, or one texel.
struct Axis {
  int first = 0, second = 0;
  int weight = 0;
};

// Coordinates as the hardware has them, in 1/256 of a texel; far outside is as good as a little outside.
constexpr double kFar = 1 << 24;

Axis place_on(float coordinate, int n, cudaTextureAddressMode mode, bool normalized, bool filter) {
  // Only normalised coordinates repeat.
  if (!normalized && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror))
    mode = cudaAddressModeClamp;
  double x = coordinate;
  if (std::isnan(x)) x = 0;
  if (normalized) {
    if (mode == cudaAddressModeWrap) x -= std::floor(x);
    if (mode == cudaAddressModeMirror) x -= 2 * std::floor(x / 2);
    x *= n;
  }
  x = x < -kFar ? -kFar : x > kFar ? kFar : x;
  Axis axis;
  if (!filter) {
    axis.first = axis.second = addressed(static_cast<int>(std::floor(x)), n, mode);
    return axis;
  }
  const double fixed = std::floor((x - 0.5) * 256 + 0.5);
  const double whole = std::floor(fixed / 256);
  axis.weight = static_cast<int>(fixed - whole * 256);
  axis.first = addressed(static_cast<int>(whole), n, mode);
  axis.second = addressed(static_cast<int>(whole) + 1, n, mode);
  return axis;
}

Color color_at(const Texture& t, const Elements& e, int x, int y, int z) {
  Color color;
  if (x < 0 || y < 0 || z < 0) {
    std::memcpy(color.c, t.description.borderColor, sizeof color.c);
    return color;
  }
  const char* p = element_at(e, x, y, z);
  const std::size_t bytes = bytes_of(t.format);
  for (int c = 0; c < t.channels; ++c) {
    float v = number_at(p + static_cast<std::size_t>(c) * bytes, t.format);
    if (t.description.sRGB && t.format == Format::unorm8 && c < 3)
      v = v <= 0.04045f ? v / 12.92f : std::pow((v + 0.055f) / 1.055f, 2.4f);
    color.c[c] = v;
  }
  return color;
}

Color mix(const Color& a, const Color& b, float weight) {
  Color result;
  for (int c = 0; c < 4; ++c)
    result.c[c] = static_cast<float>(a.c[c] * (1.0 - weight) + b.c[c] * static_cast<double>(weight));
  return result;
}

Texel as_floats(const Color& color) {
  Texel texel;
  std::memcpy(texel.bits, color.c, sizeof texel.bits);
  return texel;
}

// Where a read falls in one level.
struct Spot {
  Axis x, y, z;
};

Texel integers_at(const Texture& t, const Elements& e, const Spot& s) {
  Texel texel = {};
  if (s.x.first < 0 || s.y.first < 0 || s.z.first < 0) {
    for (int c = 0; c < 4; ++c) {
      const float v = t.description.borderColor[c];
      texel.bits[c] = v < 0 ? static_cast<std::uint32_t>(static_cast<int>(v)) : static_cast<std::uint32_t>(v);
    }
    return texel;
  }
  const char* p = element_at(e, s.x.first, s.y.first, s.z.first);
  for (int c = 0; c < t.channels; ++c)
    texel.bits[c] = integer_at(p + static_cast<std::size_t>(c) * bytes_of(t.format), t.format);
  return texel;
}

// The texels that a filtered read takes part of, with weights that are whole 256ths and sum to 256.
struct Taps {
  int count = 0;
  struct {
    int x, y, z, weight;
  } of[8];
  void add(int x, int y, int z, int weight) {
    if (weight) of[count++] = {x, y, z, weight};
  }
};

// Weights are rounded when two axes meet, in an order found by experiment on an H200: all of 1-D's results
// are as there, 2-D's within a unit in the last place, 3-D's but for one in ten, whose weights differ by
// 1/256.
Taps taps_of(const Spot& s) {
  const int a = s.x.weight, b = s.y.weight, c = s.z.weight;
  Taps taps;
  if (c == 0) {
    const int both = (a * b + 128) / 256;
    taps.add(s.x.first, s.y.first, s.z.first, 256 - a - b + both);
    taps.add(s.x.second, s.y.first, s.z.first, a - both);
    taps.add(s.x.first, s.y.second, s.z.first, b - both);
    taps.add(s.x.second, s.y.second, s.z.first, both);
    return taps;
  }
  const auto column = [&](int x, int z, int weight) {
    const int second = (weight * b + 127) / 256;
    taps.add(x, s.y.first, z, weight - second);
    taps.add(x, s.y.second, z, second);
  };
  const int back = (c * a + 128) / 256, front = a - back;
  column(s.x.first, s.z.first, 256 - c - front);
  column(s.x.second, s.z.first, front);
  column(s.x.first, s.z.second, c - back);
  column(s.x.second, s.z.second, back);
  return taps;
}

// Floats are brought to the largest exponent with four bits to spare, which cuts small ones, and then
// weighted exactly.
float weighted(const float* values, const Taps& taps) {
  float largest = 0;
  for (int i = 0; i < taps.count; ++i) largest = std::fmax(largest, std::fabs(values[i]));
  double sum = 0;
  int exponent = 0;
  if (largest == 0 || !std::isfinite(largest)) {
    for (int i = 0; i < taps.count; ++i) sum += static_cast<double>(values[i]) * taps.of[i].weight;
    return static_cast<float>(sum / 256);
  }
  std::frexp(largest, &exponent);
  const int shift = 28 - exponent;  // the largest becomes 28 bits: 24 and 4
  for (int i = 0; i < taps.count; ++i)
    sum += std::trunc(std::ldexp(static_cast<double>(values[i]), shift)) * taps.of[i].weight;
  return static_cast<float>(std::ldexp(sum, -shift - 8));
}

// Formats that stand for fractions are weighted as 16-bit numbers.
float weighted_fraction(const float* values, const Taps& taps, Format format) {
  const bool is_signed = format == Format::snorm8 || format == Format::snorm16;
  const double one = is_signed ? 32767 : 65535;
  double sum = 0;
  for (int i = 0; i < taps.count; ++i) {
    const double wide = values[i] * one;
    sum += (format == Format::snorm8 ? std::trunc(wide + std::copysign(1e-3, wide)) : std::round(wide)) *
           taps.of[i].weight;
  }
  return static_cast<float>(std::floor(sum / 256 + 0.5) / one);
}

Color filtered(const Texture& t, const Elements& e, const Spot& s) {
  const Taps taps = taps_of(s);
  Color colors[8];
  for (int i = 0; i < taps.count; ++i) colors[i] = color_at(t, e, taps.of[i].x, taps.of[i].y, taps.of[i].z);
  if (taps.count == 1) return colors[0];
  const bool fraction = t.format >= Format::snorm8 && !t.description.sRGB;
  Color result;
  for (int c = 0; c < t.channels; ++c) {
    float values[8];
    for (int i = 0; i < taps.count; ++i) values[i] = colors[i].c[c];
    result.c[c] = fraction ? weighted_fraction(values, taps, t.format) : weighted(values, taps);
  }
  return result;
}

// The face that a direction points to, and where on it, from 0 to 1.
int cube_face(float x, float y, float z, float* u, float* v) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  int face;
  float s, t, m;
  if (ax >= ay && ax >= az) {
    face = x >= 0 ? 0 : 1;
    m = ax, s = x >= 0 ? -z : z, t = -y;
  } else if (ay >= az) {
    face = y >= 0 ? 2 : 3;
    m = ay, s = x, t = y >= 0 ? z : -z;
  } else {
    face = z >= 0 ? 4 : 5;
    m = az, s = z >= 0 ? x : -x, t = -y;
  }
  *u = (s / m + 1) / 2;
  *v = (t / m + 1) / 2;
  return face;
}

const Texture& texture_of(cudaTextureObject_t handle) {
  const Texture* const texture = find_texture(handle);
  if (!texture) {
    fail("simt-use-after-free", "texture object %#llx does not exist (destroyed, or never created)", handle);
  }
  return *texture;
}

const char* name_of(TextureShape shape) {
  static constexpr const char* kNames[] = {
      "1-D", "2-D", "3-D", "layered 1-D", "layered 2-D", "cubemap", "layered cubemap"};
  return kNames[static_cast<int>(shape)];
}

int clamped(int i, int n) {
  return i < 0 ? 0 : i >= n ? n - 1 : i;
}

Spot spot_in(const Texture& t, const Elements& e, float x, float y, float z, int layer, bool filter) {
  const cudaTextureDesc& d = t.description;
  const bool normalized = d.normalizedCoords != 0;
  Spot spot;
  if (t.shape == TextureShape::cube || t.shape == TextureShape::cubes) {
    float u, v;
    const int face = cube_face(x, y, z, &u, &v);
    spot.x = place_on(u, e.width, cudaAddressModeClamp, true, filter);
    spot.y = place_on(v, e.height, cudaAddressModeClamp, true, filter);
    spot.z.first = spot.z.second = clamped(layer, e.depth / 6) * 6 + face;
    return spot;
  }
  spot.x = place_on(x, e.width, d.addressMode[0], normalized, filter);
  // A line is a plane one texel high, read at its edge: a border in y shows in it, as on a GPU.
  const bool flat = t.shape == TextureShape::line || t.shape == TextureShape::lines;
  spot.y = place_on(flat ? 0 : y, e.height, d.addressMode[1], normalized, filter);
  if (t.shape == TextureShape::volume) spot.z = place_on(z, e.depth, d.addressMode[2], normalized, filter);
  if (t.shape == TextureShape::lines || t.shape == TextureShape::planes)
    spot.z.first = spot.z.second = clamped(layer, e.depth);
  return spot;
}

}  // namespace

Texel sample_texture(cudaTextureObject_t handle, TextureShape shape, float x, float y, float z, int layer,
                     float level) {
  const Texture& t = texture_of(handle);
  if (t.linear) fail("simt-launch", "a texture of linear memory is read by tex1Dfetch() alone");
  if (t.shape != shape)
    fail("simt-launch", "a %s texture is read as a %s one", name_of(t.shape), name_of(shape));
  const cudaTextureDesc& d = t.description;
  const bool filter = d.filterMode == cudaFilterModeLinear && gives_float(t.format);
  const auto read = [&](std::size_t number) {
    const Elements& e = t.levels[number];
    return filtered(t, e, spot_in(t, e, x, y, z, layer, filter));
  };
  std::size_t first = 0;
  float between = 0;
  if (t.levels.size() > 1) {
    level += d.mipmapLevelBias;
    level = std::fmin(std::fmax(level, d.minMipmapLevelClamp), d.maxMipmapLevelClamp);
    level = std::fmin(std::fmax(level, 0.0f), static_cast<float>(t.levels.size() - 1));
    if (d.mipmapFilterMode == cudaFilterModeLinear) {
      first = static_cast<std::size_t>(level);
      between = std::floor((level - static_cast<float>(first)) * 256 + 0.5f) / 256;
    } else {
      first = static_cast<std::size_t>(level + 0.5f);
    }
  }
  if (!gives_float(t.format)) {
    const Elements& e = t.levels[first];
    return integers_at(t, e, spot_in(t, e, x, y, z, layer, false));
  }
  const Color near = read(first);
  return as_floats(between == 0 ? near : mix(near, read(first + 1), between));
}

Texel fetch_texture(cudaTextureObject_t handle, int x) {
  const Texture& t = texture_of(handle);
  const Elements& e = t.levels[0];
  if (t.shape != TextureShape::line) fail("simt-launch", "tex1Dfetch() reads a %s texture", name_of(t.shape));
  if (x < 0 || x >= e.width) return {};  // outside is zero
  Spot spot;
  spot.x.first = spot.x.second = x;
  return gives_float(t.format) ? as_floats(color_at(t, e, x, 0, 0)) : integers_at(t, e, spot);
}

// One channel of the four texels that filtering would take, counter-clockwise from the lower left.
Texel gather_texture(cudaTextureObject_t handle, float x, float y, int component) {
  const Texture& t = texture_of(handle);
  if (t.shape != TextureShape::plane)
    fail("simt-launch", "tex2Dgather() reads a %s texture", name_of(t.shape));
  if (component < 0 || component > 3) fail("simt-launch", "tex2Dgather(): there is no channel %d", component);
  const Elements& e = t.levels[0];
  const Spot s = spot_in(t, e, x, y, 0, 0, true);
  const auto one = [&](int i, int j) {
    Spot at;
    at.x.first = i, at.y.first = j;
    return (gives_float(t.format) ? as_floats(color_at(t, e, i, j, 0)) : integers_at(t, e, at))
        .bits[component];
  };
  return {{one(s.x.first, s.y.second), one(s.x.second, s.y.second), one(s.x.second, s.y.first),
           one(s.x.first, s.y.first)}};
}

float level_of(cudaTextureObject_t handle, const float* dx, const float* dy, int dimensions) {
  const Texture& t = texture_of(handle);
  const Elements& e = t.levels[0];
  const int sizes[] = {e.width, e.height, e.depth};
  double a = 0, b = 0;
  for (int i = 0; i < dimensions; ++i) {
    const double scale = t.description.normalizedCoords ? sizes[i] : 1;
    a += dx[i] * scale * dx[i] * scale;
    b += dy[i] * scale * dy[i] * scale;
  }
  const double longest = std::sqrt(a > b ? a : b);
  return longest > 0 ? static_cast<float>(std::log2(longest)) : 0;
}

}  // namespace simt
