// SPDX-License-Identifier: MIT
//
// Checked builds: what simtcc writes around a loop of host code that touches nothing but host memory. Such a loop
// is there twice, watched and unwatched, and runs unwatched once the objects and pointers that it begins with are
// known to be the host's (translator/rewrite_host_loops.cpp).
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#if __has_include(<bits/allocator.h>)
#include <bits/allocator.h>  // <memory> takes long to read
#else
#include <memory>
#endif

#if defined(__clang__)
#define SIMT_UNWATCHED \
  __attribute__((no_sanitize("thread"), no_sanitize("array-bounds"), disable_sanitizer_instrumentation))
#else
#define SIMT_UNWATCHED __attribute__((no_sanitize("thread"), no_sanitize("bounds-strict")))
#endif

namespace simt {

/// Whether host code runs, and the address is none of the device's, managed or pinned memory.
bool is_hosts(const volatile void* address);

namespace host_loop {

// Whose bytes are all that an access to it can reach: numbers, and classes of them. A member that is a reference
// makes a class one of no standard layout.
template <class T>
constexpr bool is_value() {
  return std::is_arithmetic<T>::value || std::is_enum<T>::value ||
         (std::is_class<T>::value && std::is_trivially_copyable<T>::value &&
          std::is_standard_layout<T>::value);
}

// Whether [] applied `depth` times to an array of T ends at values, without following a pointer.
template <int depth, class T>
constexpr bool holds_values() {
  if constexpr (depth > 1 && std::is_array<T>::value) {
    return holds_values<depth - 1, std::remove_extent_t<T>>();
  } else {
    return depth == 1 && is_value<T>();
  }
}

// std::vector and its kind with the C++ library's own allocator, whose memory is the heap's; and what holds its elements
// itself, std::array.
template <class T, class = void>
struct Elements {
  static constexpr bool known = false;
};
template <class T>
struct Elements<T, std::enable_if_t<std::is_same<typename T::allocator_type,
                                                 std::allocator<typename T::value_type>>::value &&
                                    std::is_pointer<decltype(std::declval<T&>().data())>::value>> {
  static constexpr bool known = true;
  using type = typename T::value_type;
};
template <class T>
struct Elements<T, std::enable_if_t<sizeof(T) == sizeof(typename T::value_type) * std::tuple_size<T>::value &&
                                    std::is_pointer<decltype(std::declval<T&>().data())>::value>> {
  static constexpr bool known = true;
  using type = typename T::value_type;
};

/// Whether x, and what [] applied `depth` times to it reaches, is host memory. An index is taken to lie in its array.
template <int depth, class T>
bool stays_home(const T& x) {
  using U = std::remove_cv_t<T>;
  if (!is_hosts(&x)) return false;
  if constexpr (std::is_arithmetic<U>::value || std::is_enum<U>::value) {
    return true;  // [] of it would not compile
  } else if constexpr (depth == 0) {
    return std::is_pointer<U>::value || std::is_array<U>::value || is_value<U>();
  } else if constexpr (std::is_pointer<U>::value) {
    if constexpr (std::is_void<std::remove_pointer_t<U>>::value ||
                  std::is_function<std::remove_pointer_t<U>>::value) {
      return false;
    } else {
      return holds_values<depth, std::remove_cv_t<std::remove_pointer_t<U>>>() && is_hosts(x);
    }
  } else if constexpr (std::is_array<U>::value) {
    return holds_values<depth, std::remove_cv_t<std::remove_extent_t<U>>>();
  } else if constexpr (Elements<U>::known) {
    return holds_values<depth, std::remove_cv_t<typename Elements<U>::type>>();
  } else {
    return false;
  }
}

/// What the loop indexes in its place: the pointer to its first element. Whatever does not stay at home is itself:
/// its loop is never run, but compiled.
template <class T>
decltype(auto) base(T& x) {
  if constexpr (std::is_array<T>::value || std::is_pointer<T>::value) {
    return &x[0];
  } else if constexpr (Elements<std::remove_cv_t<T>>::known) {
    return x.data();
  } else {
    return static_cast<T&>(x);
  }
}

template <class T>
constexpr bool is_copied() {
  return !std::is_volatile<T>::value &&
         (std::is_arithmetic<T>::value || std::is_enum<T>::value || std::is_pointer<T>::value);
}
/// The loop's own copy of a number or pointer, so that it may lie in a register; of anything else the object itself.
template <class T>
decltype(auto) copy(T& x) {
  if constexpr (is_copied<T>()) {
    return std::remove_cv_t<T>(x);
  } else {
    return static_cast<T&>(x);
  }
}
/// After the loop.
template <class T, class U>
void give_back(T& x, const U& copy) {
  if constexpr (is_copied<T>() && !std::is_const<T>::value) x = copy;
}

/// What `for (T& x : range)` runs over.
template <class T>
struct Range {
  T* first;
  T* last;
  SIMT_UNWATCHED __attribute__((always_inline)) T* begin() const { return first; }
  SIMT_UNWATCHED __attribute__((always_inline)) T* end() const { return last; }
};
template <class T>
decltype(auto) range(T& x) {
  if constexpr (std::is_array<T>::value) {
    return Range<std::remove_extent_t<T>>{x, x + std::extent<T>::value};
  } else if constexpr (Elements<std::remove_cv_t<T>>::known) {
    return Range<std::remove_reference_t<decltype(*x.data())>>{x.data(), x.data() + x.size()};
  } else {
    return static_cast<T&>(x);
  }
}

// std's, which the compiler does not inline into an unwatched function.
#define SIMT_HOST_LOOP inline SIMT_UNWATCHED __attribute__((always_inline)) constexpr
SIMT_HOST_LOOP float fabs(float x) {
  return __builtin_fabsf(x);
}
SIMT_HOST_LOOP double fabs(double x) {
  return __builtin_fabs(x);
}
SIMT_HOST_LOOP long double fabs(long double x) {
  return __builtin_fabsl(x);
}
template <class T>
SIMT_HOST_LOOP std::enable_if_t<std::is_integral<T>::value, double> fabs(T x) {
  return __builtin_fabs(static_cast<double>(x));
}
SIMT_HOST_LOOP float abs(float x) {
  return __builtin_fabsf(x);
}
SIMT_HOST_LOOP double abs(double x) {
  return __builtin_fabs(x);
}
SIMT_HOST_LOOP long double abs(long double x) {
  return __builtin_fabsl(x);
}
SIMT_HOST_LOOP int abs(int x) {
  return __builtin_abs(x);
}
SIMT_HOST_LOOP long abs(long x) {
  return __builtin_labs(x);
}
SIMT_HOST_LOOP long long abs(long long x) {
  return __builtin_llabs(x);
}
SIMT_HOST_LOOP float sqrt(float x) {
  return __builtin_sqrtf(x);
}
SIMT_HOST_LOOP double sqrt(double x) {
  return __builtin_sqrt(x);
}
SIMT_HOST_LOOP long double sqrt(long double x) {
  return __builtin_sqrtl(x);
}
template <class T>
SIMT_HOST_LOOP std::enable_if_t<std::is_integral<T>::value, double> sqrt(T x) {
  return __builtin_sqrt(static_cast<double>(x));
}
template <class T>
SIMT_HOST_LOOP const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <class T>
SIMT_HOST_LOOP const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
#undef SIMT_HOST_LOOP

}  // namespace host_loop
}  // namespace simt
