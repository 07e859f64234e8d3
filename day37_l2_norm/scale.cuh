// SPDX-License-Identifier: MIT
// Powers of two that bring a number near 1. To multiply by one changes a float's exponent alone and rounds nothing,
// as long as the result is no denormal.
#pragma once

#include <cuda_runtime.h>

namespace day37 {

// 2^-e for a float of at least 0 that lies in [2^e, 2^(e + 1)), by its bits. e is kept in -126 ... 126, so that the
// power is a normal float: denormals are multiplied by 2^126, and 2^127 and more, infinity and NaN by 2^-126.
__device__ inline float inverse_power_of_bits(unsigned bits) {
  const unsigned exponent = min(max(bits >> 23, 1u), 253u);
  return __uint_as_float((254 - exponent) << 23);
}
__device__ inline float inverse_power(float value) {
  return inverse_power_of_bits(__float_as_uint(value));
}

// 1 / power, of a power of two that inverse_power gives, without a division.
__device__ inline float inverse_of_power(float power) {
  return __uint_as_float((254u << 23) - __float_as_uint(power));
}

// What every element of a row is multiplied by, twice because the product of both may be no float. The larger one
// comes first: so nothing is rounded to a denormal that is none in the end, and nothing overflows on the way.
struct Divisor {
  float norm, first, second;

  // power is a power of two, and sum that of the row's (x * power)^2.
  __device__ Divisor(float power, float sum, float eps) {
    float root = sqrtf(sum);
    norm = root * inverse_of_power(power);  // exact, or beyond fp32, while root stays a number
    if (norm <= eps) {
      power = inverse_power(eps);
      root = eps * power;
    }
    const float factor = 1 / root;
    first = factor < power ? power : factor;
    second = factor < power ? factor : power;
  }
  __device__ float quotient(float x) const { return x * first * second; }
};

}  // namespace day37
