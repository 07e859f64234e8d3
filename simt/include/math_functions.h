// SPDX-License-Identifier: MIT
//
// The mathematical functions that nvcc adds to those of <math.h>: min and max for every type, reciprocal
// roots, norms, functions of pi x, error-function relatives. Results are at least as exact as a GPU's: float
// versions compute in double and round once, so the last bit may differ from a GPU's, never by more than the
// bound that CUDA's guide gives.
#ifndef __MATH_FUNCTIONS_H__
#define __MATH_FUNCTIONS_H__

#include <math.h>
#include <stdlib.h>

// ---- minimum and maximum ----
// Mixed signs compare as unsigned, as in C and on the device; NaN loses against a number.

#define SIMT_MIN_MAX(Result, A, B)                                                   \
  constexpr inline Result min(A a, B b) noexcept {                                   \
    return static_cast<Result>(a) < static_cast<Result>(b) ? static_cast<Result>(a)  \
                                                           : static_cast<Result>(b); \
  }                                                                                  \
  constexpr inline Result max(A a, B b) noexcept {                                   \
    return static_cast<Result>(a) > static_cast<Result>(b) ? static_cast<Result>(a)  \
                                                           : static_cast<Result>(b); \
  }
#define SIMT_MIN_MAX_BOTH_SIGNS(S)                 \
  SIMT_MIN_MAX(S, S, S)                            \
  SIMT_MIN_MAX(unsigned S, unsigned S, unsigned S) \
  SIMT_MIN_MAX(unsigned S, S, unsigned S)          \
  SIMT_MIN_MAX(unsigned S, unsigned S, S)
SIMT_MIN_MAX_BOTH_SIGNS(int)
SIMT_MIN_MAX_BOTH_SIGNS(long)
SIMT_MIN_MAX_BOTH_SIGNS(long long)
#undef SIMT_MIN_MAX_BOTH_SIGNS
#undef SIMT_MIN_MAX

// Of floats, -0 is less than +0, which fmin() of the C library leaves open.
#define SIMT_MIN_MAX(Result, A, B)                                                            \
  inline Result min(A a, B b) noexcept {                                                      \
    return a == b ? (__builtin_signbit(a) ? a : b) : a < b || b != b ? Result(a) : Result(b); \
  }                                                                                           \
  inline Result max(A a, B b) noexcept {                                                      \
    return a == b ? (__builtin_signbit(a) ? b : a) : a > b || b != b ? Result(a) : Result(b); \
  }
SIMT_MIN_MAX(float, float, float)
SIMT_MIN_MAX(double, double, double)
SIMT_MIN_MAX(double, float, double)
SIMT_MIN_MAX(double, double, float)
#undef SIMT_MIN_MAX

inline unsigned int umin(unsigned int a, unsigned int b) noexcept {
  return a < b ? a : b;
}
inline unsigned int umax(unsigned int a, unsigned int b) noexcept {
  return a > b ? a : b;
}
inline long long llmin(long long a, long long b) noexcept {
  return a < b ? a : b;
}
inline long long llmax(long long a, long long b) noexcept {
  return a > b ? a : b;
}
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) noexcept {
  return a < b ? a : b;
}
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) noexcept {
  return a > b ? a : b;
}

// ---- functions that some C libraries have and others lack ----

#ifdef __APPLE__
inline double exp10(double x) noexcept {
  return __exp10(x);
}
inline float exp10f(float x) noexcept {
  return __exp10f(x);
}
inline void sincos(double x, double* sine, double* cosine) noexcept {
  __sincos(x, sine, cosine);
}
inline void sincosf(float x, float* sine, float* cosine) noexcept {
  __sincosf(x, sine, cosine);
}
#endif
inline float exp10(float x) noexcept {
  return exp10f(x);
}
inline void sincos(float x, float* sine, float* cosine) noexcept {
  sincosf(x, sine, cosine);
}

// glibc 2.41 and 2.42 brought these under their C23 names.
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 41)
#define SIMT_LIBC_HAS_SINPI
#endif
#if __GLIBC_PREREQ(2, 42)
#define SIMT_LIBC_HAS_RSQRT
#endif
#endif

#ifndef SIMT_LIBC_HAS_SINPI
// Reduced exactly first: sinpi of a whole number is 0, cospi of a half 0, however large the argument.
inline double sinpi(double x) noexcept {
  const double r = remainder(x, 2.0);  // in [-1, 1], exact
  const double pi = 3.141592653589793238462643383279502884;
  if (r == 0.0 || r == 1.0 || r == -1.0) return copysign(0.0, x);
  if (r > 0.75 || r < -0.75) return sin(pi * (copysign(1.0, r) - r));
  if (r > 0.25) return cos(pi * (0.5 - r));
  if (r < -0.25) return -cos(pi * (0.5 + r));
  return sin(pi * r);
}
inline double cospi(double x) noexcept {
  const double r = fabs(remainder(x, 2.0));  // in [0, 1]
  const double pi = 3.141592653589793238462643383279502884;
  if (r == 0.5) return 0.0;
  if (r > 0.75) return -cos(pi * (1.0 - r));
  if (r > 0.25) return sin(pi * (0.5 - r));
  return cos(pi * r);
}
inline float sinpif(float x) noexcept {
  return static_cast<float>(sinpi(static_cast<double>(x)));
}
inline float cospif(float x) noexcept {
  return static_cast<float>(cospi(static_cast<double>(x)));
}
#endif
inline float sinpi(float x) noexcept {
  return sinpif(x);
}
inline float cospi(float x) noexcept {
  return cospif(x);
}
inline void sincospi(double x, double* sine, double* cosine) noexcept {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
inline void sincospif(float x, float* sine, float* cosine) noexcept {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
inline void sincospi(float x, float* sine, float* cosine) noexcept {
  sincospif(x, sine, cosine);
}

#ifndef SIMT_LIBC_HAS_RSQRT
inline double rsqrt(double x) noexcept {
  return 1.0 / sqrt(x);
}
inline float rsqrtf(float x) noexcept {
  return static_cast<float>(1.0 / sqrt(static_cast<double>(x)));
}
#endif
inline float rsqrt(float x) noexcept {
  return rsqrtf(x);
}

// ---- roots, quotients, norms ----

inline double rcbrt(double x) noexcept {
  return 1.0 / cbrt(x);
}
inline float rcbrtf(float x) noexcept {
  return static_cast<float>(1.0 / cbrt(static_cast<double>(x)));
}
inline float rcbrt(float x) noexcept {
  return rcbrtf(x);
}
inline double fdivide(double a, double b) noexcept {
  return a / b;
}
inline float fdividef(float a, float b) noexcept {
  return a / b;
}
inline float fdivide(float a, float b) noexcept {
  return a / b;
}

// hypot() neither overflows nor underflows on the way, and an infinity wins over NaN, as CUDA says.
inline double norm3d(double a, double b, double c) noexcept {
  return hypot(hypot(a, b), c);
}
inline double norm4d(double a, double b, double c, double d) noexcept {
  return hypot(hypot(a, b), hypot(c, d));
}
inline double norm(int dim, const double* p) noexcept {
  double result = 0.0;
  for (int i = 0; i < dim; ++i) result = hypot(result, p[i]);
  return result;
}
// The reciprocals exist where the norm itself overflows: a quarter of the operands then gives four times the
// result.
inline double rhypot(double a, double b) noexcept {
  const double whole = hypot(a, b);
  return isinf(whole) ? 0.25 / hypot(a * 0.25, b * 0.25) : 1.0 / whole;
}
inline double rnorm3d(double a, double b, double c) noexcept {
  const double whole = norm3d(a, b, c);
  return isinf(whole) ? 0.25 / norm3d(a * 0.25, b * 0.25, c * 0.25) : 1.0 / whole;
}
inline double rnorm4d(double a, double b, double c, double d) noexcept {
  const double whole = norm4d(a, b, c, d);
  return isinf(whole) ? 0.25 / norm4d(a * 0.25, b * 0.25, c * 0.25, d * 0.25) : 1.0 / whole;
}
inline double rnorm(int dim, const double* p) noexcept {
  return 1.0 / norm(dim, p);
}

inline float norm3df(float a, float b, float c) noexcept {
  return static_cast<float>(norm3d(a, b, c));
}
inline float norm4df(float a, float b, float c, float d) noexcept {
  return static_cast<float>(norm4d(a, b, c, d));
}
inline double simt_norm(int dim, const float* p) noexcept {
  double result = 0.0;
  for (int i = 0; i < dim; ++i) result = hypot(result, static_cast<double>(p[i]));
  return result;
}
inline float normf(int dim, const float* p) noexcept {
  return static_cast<float>(simt_norm(dim, p));
}
inline float norm(int dim, const float* p) noexcept {
  return normf(dim, p);
}
inline float rhypotf(float a, float b) noexcept {
  return static_cast<float>(1.0 / hypot(double(a), double(b)));
}
inline float rhypot(float a, float b) noexcept {
  return rhypotf(a, b);
}
inline float rnorm3df(float a, float b, float c) noexcept {
  return static_cast<float>(rnorm3d(a, b, c));
}
inline float rnorm4df(float a, float b, float c, float d) noexcept {
  return static_cast<float>(rnorm4d(a, b, c, d));
}
inline float rnormf(int dim, const float* p) noexcept {
  return static_cast<float>(1.0 / simt_norm(dim, p));
}
inline float norm3d(float a, float b, float c) noexcept {
  return norm3df(a, b, c);
}
inline float norm4d(float a, float b, float c, float d) noexcept {
  return norm4df(a, b, c, d);
}
inline float rnorm3d(float a, float b, float c) noexcept {
  return rnorm3df(a, b, c);
}
inline float rnorm4d(float a, float b, float c, float d) noexcept {
  return rnorm4df(a, b, c, d);
}

// ---- relatives of the error function (api/special_functions.cpp) ----

namespace simt {
double erf_inverse(double x) noexcept;
double erfc_inverse(double x) noexcept;
double erfc_scaled(double x) noexcept;
double normal_cdf_inverse(double x) noexcept;
double bessel_i0(double x) noexcept;
double bessel_i1(double x) noexcept;
}  // namespace simt

#define SIMT_SPECIAL(name, implementation)                             \
  inline double name(double x) noexcept {                              \
    return implementation(x);                                          \
  }                                                                    \
  inline float name##f(float x) noexcept {                             \
    return static_cast<float>(implementation(static_cast<double>(x))); \
  }                                                                    \
  inline float name(float x) noexcept {                                \
    return name##f(x);                                                 \
  }
SIMT_SPECIAL(erfinv, simt::erf_inverse)
SIMT_SPECIAL(erfcinv, simt::erfc_inverse)
SIMT_SPECIAL(erfcx, simt::erfc_scaled)
SIMT_SPECIAL(normcdfinv, simt::normal_cdf_inverse)
SIMT_SPECIAL(cyl_bessel_i0, simt::bessel_i0)
SIMT_SPECIAL(cyl_bessel_i1, simt::bessel_i1)
#undef SIMT_SPECIAL

// The C library's Bessel functions, for float under the same name.
#define SIMT_FLOAT_OVERLOAD(name)       \
  inline float name(float x) noexcept { \
    return name##f(x);                  \
  }
SIMT_FLOAT_OVERLOAD(j0)
SIMT_FLOAT_OVERLOAD(j1)
SIMT_FLOAT_OVERLOAD(y0)
SIMT_FLOAT_OVERLOAD(y1)
#undef SIMT_FLOAT_OVERLOAD
inline float jn(int order, float x) noexcept {
  return jnf(order, x);
}
inline float yn(int order, float x) noexcept {
  return ynf(order, x);
}

inline double normcdf(double x) noexcept {
  return 0.5 * erfc(-x * 0.707106781186547524400844362104849);
}
inline float normcdff(float x) noexcept {
  return static_cast<float>(normcdf(static_cast<double>(x)));
}
inline float normcdf(float x) noexcept {
  return normcdff(x);
}

#endif
