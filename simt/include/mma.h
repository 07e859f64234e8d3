// SPDX-License-Identifier: MIT
//
// nvcuda::wmma: a warp's matrix products on fragments. Which element of the matrix a fragment's element is,
// CUDA leaves open; here it is as simt::wmma_place() says, which follows GPUs of compute capability 8.0 and
// later.
#ifndef __CUDA_MMA_H__
#define __CUDA_MMA_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "simt/tensor_cores.h"

#define SIMT_SITE simt::Site site = simt::here()

namespace nvcuda {
namespace wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32;
}
namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
}  // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental

inline float __float_to_tf32(float x) {
  return simt::round_to_tf32(x);
}

namespace details {

using simt::MatrixType;
using simt::MatrixUse;

// Of an element type: how fragments store it, how many of them a stored element holds, what simt calls it.
template <class T, MatrixType kType, class Storage = T, int kPacked = 1>
struct Described {
  using storage = Storage;
  static constexpr MatrixType type = kType;
  static constexpr int packed = kPacked;
};
template <class T>
struct Element;
template <>
struct Element<__half> : Described<__half, MatrixType::f16> {};
template <>
struct Element<__nv_bfloat16> : Described<__nv_bfloat16, MatrixType::bf16> {};
template <>
struct Element<precision::tf32> : Described<float, MatrixType::tf32> {};
template <>
struct Element<float> : Described<float, MatrixType::f32> {};
template <>
struct Element<double> : Described<double, MatrixType::f64> {};
template <>
struct Element<signed char> : Described<signed char, MatrixType::s8> {};
template <>
struct Element<unsigned char> : Described<unsigned char, MatrixType::u8> {};
template <>
struct Element<int> : Described<int, MatrixType::s32> {};
template <>
struct Element<experimental::precision::u4> : Described<unsigned, MatrixType::u4, unsigned, 8> {};
template <>
struct Element<experimental::precision::s4> : Described<int, MatrixType::s4, int, 8> {};
template <>
struct Element<experimental::precision::b1> : Described<unsigned, MatrixType::b1, unsigned, 32> {};

constexpr bool is_shape(int m, int n, int k, int m_, int n_, int k_) {
  return m == m_ && n == n_ && k == k_;
}
constexpr bool is_supported(MatrixType type, bool is_accumulator, int m, int n, int k) {
  const bool k16 =
      is_shape(m, n, k, 16, 16, 16) || is_shape(m, n, k, 32, 8, 16) || is_shape(m, n, k, 8, 32, 16);
  switch (type) {
    case MatrixType::f16:
      return k16;
    case MatrixType::bf16:
    case MatrixType::s8:
    case MatrixType::u8:
      return k16 && !is_accumulator;
    case MatrixType::f32:
      return is_accumulator && (k16 || is_shape(m, n, k, 16, 16, 8));
    case MatrixType::tf32:
      return !is_accumulator && is_shape(m, n, k, 16, 16, 8);
    case MatrixType::f64:
      return is_shape(m, n, k, 8, 8, 4);
    case MatrixType::s32:
      return is_accumulator && (k16 || is_shape(m, n, k, 8, 8, 32) || is_shape(m, n, k, 8, 8, 128));
    case MatrixType::s4:
    case MatrixType::u4:
      return !is_accumulator && is_shape(m, n, k, 8, 8, 32);
    case MatrixType::b1:
      return !is_accumulator && is_shape(m, n, k, 8, 8, 128);
    default:
      return false;
  }
}

template <class Use>
constexpr MatrixUse use_of() {
  if constexpr (std::is_same_v<Use, matrix_a>) return MatrixUse::a;
  if constexpr (std::is_same_v<Use, matrix_b>) return MatrixUse::b;
  return MatrixUse::accumulator;
}

// A fragment of fewer than 16 halves of a or b repeats them, as on the GPU.
constexpr int elements_of(MatrixUse use, MatrixType type, int m, int n, int k) {
  if (use == MatrixUse::accumulator) return m * n / 32;
  return type == MatrixType::f16 ? 16 : (use == MatrixUse::a ? m * k : k * n) / 32;
}

// All lanes must pass the same place and stride; checked builds also want them aligned as CUDA asks, where a
// GPU may forgive.
template <class T>
inline void check_arguments(const char* function, const T* p, unsigned stride, int packed, simt::Site site) {
  struct Arguments {
    const void* p;
    std::size_t stride;
  };
  if (simt::match_all(~0u, Arguments{p, stride}, site) != ~0u)
    simt::fail("simt-warp-mask", "%s: all 32 lanes of a warp must come with the same pointer and stride",
               function);
  const std::size_t stride_bytes =
      static_cast<std::size_t>(stride) / static_cast<std::size_t>(packed) * sizeof(T);
  if (simt::checked_build && (reinterpret_cast<std::uintptr_t>(p) % 32 != 0 || stride_bytes % 16 != 0)) {
    simt::fail("simt-misaligned",
               "%s: the pointer must be a multiple of 32 bytes, the stride of 16 bytes\n"
               "The pointer is %p, the stride %zu bytes.",
               function, static_cast<const void*>(p), stride_bytes);
  }
}

}  // namespace details

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
  using Element = details::Element<T>;
  static constexpr bool kIsAccumulator = std::is_same_v<Use, accumulator>;
  static_assert(details::is_supported(Element::type, kIsAccumulator, m, n, k),
                "wmma has no fragments of this shape and type");
  static_assert(kIsAccumulator == std::is_void_v<Layout>,
                "matrix_a and matrix_b need a layout, accumulators have none");

 public:
  enum { num_elements = details::elements_of(details::use_of<Use>(), Element::type, m, n, k) };
  enum { num_storage_elements = num_elements / Element::packed };
  typedef T element_type;
  typedef typename Element::storage storage_element_type;
  alignas(8) storage_element_type x[num_storage_elements];
};

template <class Use, int m, int n, int k, class T, class Layout>
inline void fill_fragment(fragment<Use, m, n, k, T, Layout>& f,
                          const typename fragment<Use, m, n, k, T, Layout>::storage_element_type& value) {
  for (auto& element : f.x) element = value;
}

namespace details {

// Elements are read and written one by one, as the kernel's own accesses.
template <class F, class P, class Move>
inline void for_each_element(F& f, P* p, unsigned stride, MatrixUse use, int m, int n, int k, bool by_rows,
                             int packed, Move move) {
  for (int i = 0; i < static_cast<int>(F::num_storage_elements); ++i) {
    simt::MatrixPlace at;
    if (packed == 1) {
      at = simt::wmma_place(use, m, n, k, static_cast<int>(sizeof f.x[0]), i, simt::lane_id());
    } else {  // 8x8 only: a register of the elements along k
      const int line = static_cast<int>(simt::lane_id() / 4),
                along = static_cast<int>(simt::lane_id() % 4) * packed;
      at = use == MatrixUse::a ? simt::MatrixPlace{line, along} : simt::MatrixPlace{along, line};
    }
    const std::size_t index =
        by_rows ? static_cast<std::size_t>(at.row) * stride + static_cast<unsigned>(at.column)
                : static_cast<std::size_t>(at.column) * stride + static_cast<unsigned>(at.row);
    move(f.x[i], p[index / static_cast<unsigned>(packed)]);
  }
}

}  // namespace details

template <class Use, int m, int n, int k, class T, class Layout>
inline void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f,
                             const typename fragment<Use, m, n, k, T, Layout>::storage_element_type* p,
                             unsigned stride, SIMT_SITE) {
  constexpr int kPacked = details::Element<T>::packed;
  details::check_arguments("wmma::load_matrix_sync", p, stride, kPacked, site);
  details::for_each_element(f, p, stride, details::use_of<Use>(), m, n, k, std::is_same_v<Layout, row_major>,
                            kPacked, [](auto& element, const auto& memory) { element = memory; });
}

template <int m, int n, int k, class T>
inline void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* p, unsigned stride,
                             layout_t layout, SIMT_SITE) {
  details::check_arguments("wmma::load_matrix_sync", p, stride, 1, site);
  details::for_each_element(f, p, stride, details::MatrixUse::accumulator, m, n, k, layout == mem_row_major,
                            1, [](auto& element, const auto& memory) { element = memory; });
}

template <int m, int n, int k, class T>
inline void store_matrix_sync(T* p, const fragment<accumulator, m, n, k, T>& f, unsigned stride,
                              layout_t layout, SIMT_SITE) {
  details::check_arguments("wmma::store_matrix_sync", p, stride, 1, site);
  details::for_each_element(f, p, stride, details::MatrixUse::accumulator, m, n, k, layout == mem_row_major,
                            1, [](const auto& element, auto& memory) { memory = element; });
}

template <int m, int n, int k, class A, class LayoutA, class LayoutB, class C, class D>
inline void mma_sync(fragment<accumulator, m, n, k, D>& d, const fragment<matrix_a, m, n, k, A, LayoutA>& a,
                     const fragment<matrix_b, m, n, k, A, LayoutB>& b,
                     const fragment<accumulator, m, n, k, C>& c, bool saturate = false, SIMT_SITE) {
  const simt::MmaShape shape{m,
                             n,
                             k,
                             details::Element<A>::type,
                             details::Element<A>::type,
                             details::Element<C>::type,
                             details::Element<D>::type,
                             saturate};
  if constexpr (details::Element<A>::packed == 1) {
    simt::wmma_mma_sync(shape, a.x, b.x, c.x, d.x, site);
  } else {
    simt::mma_sync(shape, a.x, b.x, c.x, d.x, site);
  }
}

namespace experimental {

using wmma::fill_fragment;
using wmma::load_matrix_sync;
using wmma::mma_sync;
using wmma::store_matrix_sync;

inline void bmma_sync(fragment<accumulator, 8, 8, 128, int>& d,
                      const fragment<matrix_a, 8, 8, 128, precision::b1, row_major>& a,
                      const fragment<matrix_b, 8, 8, 128, precision::b1, col_major>& b,
                      const fragment<accumulator, 8, 8, 128, int>& c, bmmaBitOp op = bmmaBitOpXOR,
                      bmmaAccumulateOp = bmmaAccumulateOpPOPC, SIMT_SITE) {
  using simt::MatrixType;
  const simt::MmaShape shape{8,
                             8,
                             128,
                             MatrixType::b1,
                             MatrixType::b1,
                             MatrixType::s32,
                             MatrixType::s32,
                             false,
                             op == bmmaBitOpAND ? simt::BitProduct::bit_and : simt::BitProduct::bit_xor};
  simt::mma_sync(shape, a.x, b.x, c.x, d.x, site);
}

}  // namespace experimental

}  // namespace wmma
}  // namespace nvcuda

#undef SIMT_SITE

#endif
