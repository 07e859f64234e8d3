// SPDX-License-Identifier: MIT
//
// The code of a launcher that is a template is made where its kernel is, for each element type of the ladder:
//
//   INSTANTIATE_LAUNCHER(softmax_naive, Softmax, float, days::half, days::bf16);
//
// is  template void softmax_naive(const Softmax<float>&, cudaStream_t);  and so on, for up to six types. A type
// that is missing is an error of the linker. INSTANTIATE_REFERENCE does the same for the CPU's versions, which
// take no stream.
#pragma once

#include <cuda_runtime.h>

#define INSTANTIATE_LAUNCHER(launcher, Problem, ...) \
  DAYS_EACH_TYPE(DAYS_LAUNCHER_FOR, launcher, Problem, __VA_ARGS__)
#define INSTANTIATE_REFERENCE(function, Problem, ...) \
  DAYS_EACH_TYPE(DAYS_REFERENCE_FOR, function, Problem, __VA_ARGS__)

#define DAYS_LAUNCHER_FOR(launcher, Problem, T) template void launcher(const Problem<T>&, cudaStream_t)
#define DAYS_REFERENCE_FOR(function, Problem, T) template void function(const Problem<T>&)

// one(f, P, T) for each of the types. Their number chooses DAYS_TYPES_n: the more there are, the further right
// they push its name, and the seventh argument is taken.
#define DAYS_EACH_TYPE(one, f, P, ...)                                                            \
  DAYS_SEVENTH(__VA_ARGS__, DAYS_TYPES_6, DAYS_TYPES_5, DAYS_TYPES_4, DAYS_TYPES_3, DAYS_TYPES_2, \
               DAYS_TYPES_1, )                                                                    \
  (one, f, P, __VA_ARGS__)
#define DAYS_SEVENTH(T1, T2, T3, T4, T5, T6, seventh, ...) seventh
#define DAYS_TYPES_1(one, f, P, T) one(f, P, T)
#define DAYS_TYPES_2(one, f, P, T, ...) \
  one(f, P, T);                         \
  DAYS_TYPES_1(one, f, P, __VA_ARGS__)
#define DAYS_TYPES_3(one, f, P, T, ...) \
  one(f, P, T);                         \
  DAYS_TYPES_2(one, f, P, __VA_ARGS__)
#define DAYS_TYPES_4(one, f, P, T, ...) \
  one(f, P, T);                         \
  DAYS_TYPES_3(one, f, P, __VA_ARGS__)
#define DAYS_TYPES_5(one, f, P, T, ...) \
  one(f, P, T);                         \
  DAYS_TYPES_4(one, f, P, __VA_ARGS__)
#define DAYS_TYPES_6(one, f, P, T, ...) \
  one(f, P, T);                         \
  DAYS_TYPES_5(one, f, P, __VA_ARGS__)
