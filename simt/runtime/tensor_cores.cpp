// SPDX-License-Identifier: MIT
//
// The matrix product of a warp: the last lane to come gathers all fragments, multiplies, and hands out the
// result.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "async.h"
#include "matrix_elements.h"

namespace simt {

void need_whole_warp(const Lane* lanes, std::uint32_t participants, const char* name) {
  if (participants != ~0u) {
    fail_at(lanes[__builtin_ctz(participants)].site, "simt-warp-mask",
            "%s needs all 32 lanes of a warp; lanes 0x%08x exist and met here", name, participants);
  }
}

namespace {

using Place = MatrixPlace (*)(MatrixUse use, const MmaShape& shape, int bits, int i, unsigned lane);

// PTX's layout. A register holds `per` elements that are neighbours along k; a group of four lanes holds a
// row (column) of 4 * per of them, eight groups the rows (columns).
MatrixPlace ptx_place(MatrixUse use, const MmaShape& shape, int bits, int i, unsigned lane) {
  const int group = static_cast<int>(lane / 4), in_group = static_cast<int>(lane % 4);
  if (use == MatrixUse::accumulator) return {group + i / 2 * 8, in_group * 2 + i % 2};
  const int per = std::max(1, 32 / bits), reg = i / per;
  const int along_k = in_group * per + i % per;
  if (use == MatrixUse::b) return {reg * 4 * per + along_k, group};
  const int halves = shape.m / 8;  // the rows of one half come first
  return {group + reg % halves * 8, reg / halves * 4 * per + along_k};
}

MatrixPlace fragment_place(MatrixUse use, const MmaShape& shape, int bits, int i, unsigned lane) {
  return wmma_place(use, shape.m, shape.n, shape.k, bits / 8, i, lane);
}

struct Operands {
  const MmaShape* shape;
  Place place;
  const void *a, *b, *c;
};

bool same_shape(const MmaShape& x, const MmaShape& y) {
  return x.m == y.m && x.n == y.n && x.k == y.k && x.a == y.a && x.b == y.b && x.c == y.c && x.d == y.d;
}

// Where in its matrix, row by row, each element of each lane's fragment lies.
struct Layout {
  MmaShape shape = {};
  Place place = nullptr;
  std::vector<int> a, b, c, d;

  Layout(const MmaShape& s, Place of) : shape(s), place(of) {
    list(a, MatrixUse::a, s.m * s.k / 32, bits_of(s.a), s.k);
    list(b, MatrixUse::b, s.k * s.n / 32, bits_of(s.a), s.n);
    list(c, MatrixUse::accumulator, s.m * s.n / 32, bits_of(s.c), s.n);
    list(d, MatrixUse::accumulator, s.m * s.n / 32, bits_of(s.d), s.n);
  }

 private:
  void list(std::vector<int>& to, MatrixUse use, int count, int bits, int columns) const {
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < count; ++i) {
        const MatrixPlace at = place(use, shape, bits, i, lane);
        to.push_back(at.row * columns + at.column);
      }
    }
  }
};

// Made once for all products of one shape that follow each other: it takes longer than the product.
const Layout& layout_of(const Operands& o) {
  thread_local std::optional<Layout> latest;
  if (!latest || latest->place != o.place || !same_shape(latest->shape, *o.shape))
    latest.emplace(*o.shape, o.place);
  return *latest;
}

void gather_integers(std::int32_t* to, const std::vector<int>& layout, MatrixType type, const Lane* lanes,
                     const void* Operands::*fragment) {
  const int count = static_cast<int>(layout.size()) / 32;
  const int* at = layout.data();
  for (int lane = 0; lane < 32; ++lane) {
    const void* from = static_cast<const Operands*>(lanes[lane].input)->*fragment;
    for (int i = 0; i < count; ++i) to[*at++] = static_cast<std::int32_t>(integer_element(type, from, i));
  }
}

// c += a * b, a row of b at a time. n is a multiple of 8 in all shapes, which lets the compiler vectorise.
template <class Step>
[[gnu::always_inline]] inline void multiply_add(const MmaShape& s, const double* a, const double* b,
                                                double* c, Step step) {
  for (int i = 0; i < s.m; ++i) {
    for (int j = 0; j < s.n; j += 8) {
      double sum[8];
      std::copy_n(c + i * s.n + j, 8, sum);
      for (int k = 0; k < s.k; ++k) {
        for (int l = 0; l < 8; ++l) sum[l] = step(a[i * s.k + k], b[k * s.n + j + l], sum[l]);
      }
      std::copy_n(sum, 8, c + i * s.n + j);
    }
  }
}
// A product of two elements is exact in double: no fused step is needed, and without one every CPU gives the
// same sum.
#if defined(__x86_64__) && defined(__GLIBC__)
__attribute__((target_clones("avx2", "default")))
#endif
void multiply_add_exact_products(const MmaShape& s, const double* a, const double* b, double* c) {
  multiply_add(s, a, b, c, [](double x, double y, double sum) { return sum + x * y; });
}

void multiply_floats(const Operands& o, Lane* lanes) {
  const MmaShape& s = *o.shape;
  const Layout& layout = layout_of(o);
  double a[32 * 32], b[32 * 32], c[32 * 32];
  const auto gather = [&](MatrixType type, const void* Operands::*fragment, const std::vector<int>& places,
                          double* to) {
    const void* fragments[32];
    for (int lane = 0; lane < 32; ++lane)
      fragments[lane] = static_cast<const Operands*>(lanes[lane].input)->*fragment;
    gather_floats(type, fragments, static_cast<int>(places.size()) / 32, places.data(), to);
  };
  gather(s.a, &Operands::a, layout.a, a);
  gather(s.b, &Operands::b, layout.b, b);
  gather(s.c, &Operands::c, layout.c, c);
  if (s.a == MatrixType::f64) {
    multiply_add(s, a, b, c, [](double x, double y, double sum) { return std::fma(x, y, sum); });
  } else {
    multiply_add_exact_products(s, a, b, c);
  }
  void* results[32];
  for (int lane = 0; lane < 32; ++lane) results[lane] = lanes[lane].result;
  scatter_floats(s.d, c, layout.d.data(), s.m * s.n / 32, results);
}

void multiply_integers(const Operands& o, Lane* lanes) {
  const MmaShape& s = *o.shape;
  std::vector<std::int32_t> a(static_cast<std::size_t>(s.m) * s.k), b(static_cast<std::size_t>(s.k) * s.n);
  const Layout& layout = layout_of(o);
  gather_integers(a.data(), layout.a, s.a, lanes, &Operands::a);
  gather_integers(b.data(), layout.b, s.b, lanes, &Operands::b);
  for (unsigned lane = 0; lane < 32; ++lane) {
    const auto* from = static_cast<const Operands*>(lanes[lane].input);
    for (int i = 0; i < s.m * s.n / 32; ++i) {
      const MatrixPlace at = o.place(MatrixUse::accumulator, s, 32, i, lane);
      long long sum = integer_element(MatrixType::s32, from->c, i);
      for (int k = 0; k < s.k; ++k) {
        const std::int32_t x = a[at.row * s.k + k], y = b[k * s.n + at.column];
        if (s.a != MatrixType::b1) {
          sum += static_cast<long long>(x) * y;
        } else {
          sum += s.product == BitProduct::bit_xor ? x ^ y : x & y;
        }
      }
      if (s.saturate) sum = std::clamp<long long>(sum, INT32_MIN, INT32_MAX);
      const auto low = static_cast<std::uint32_t>(sum);
      std::memcpy(static_cast<char*>(lanes[lane].result) + i * 4, &low, sizeof low);
    }
  }
}

void combine(Lane* lanes, std::uint32_t participants) {
  need_whole_warp(lanes, participants, "mma.sync");
  const auto& first = *static_cast<const Operands*>(lanes[0].input);
  for (int i = 1; i < 32; ++i) {
    if (!same_shape(*first.shape, *static_cast<const Operands*>(lanes[i].input)->shape))
      fail_at(lanes[i].site, "simt-warp-mask", "the lanes of one mma.sync name different shapes or types");
  }
  if (is_integer(first.shape->a)) {
    multiply_integers(first, lanes);
  } else {
    multiply_floats(first, lanes);
  }
}

const Collective kMma = {"mma.sync", combine};

// ---- 8x8 matrices of 16-bit elements in registers ----

struct RowOfLane {
  const void* row;
  int matrices;
  bool transposed;
};

std::uint16_t& half_of(std::uint32_t& word, int i) {
  return reinterpret_cast<std::uint16_t*>(&word)[i];
}

void combine_load(Lane* lanes, std::uint32_t participants) {
  need_whole_warp(lanes, participants, "ldmatrix");
  const auto of = [&](int lane) { return *static_cast<const RowOfLane*>(lanes[lane].input); };
  for (int lane = 0; lane < 32; ++lane) {
    auto* registers = static_cast<std::uint32_t*>(lanes[lane].result);
    for (int matrix = 0; matrix < of(0).matrices; ++matrix) {
      for (int i = 0; i < 2; ++i) {
        const int across = lane % 4 * 2 + i, down = lane / 4;
        const int row = of(0).transposed ? across : down, column = of(0).transposed ? down : across;
        std::memcpy(&half_of(registers[matrix], i),
                    static_cast<const char*>(of(matrix * 8 + row).row) + column * 2, 2);
      }
    }
  }
}

void combine_store(Lane* lanes, std::uint32_t participants) {
  need_whole_warp(lanes, participants, "stmatrix");
  const auto of = [&](int lane) { return *static_cast<const RowOfLane*>(lanes[lane].input); };
  for (int lane = 0; lane < 32; ++lane) {
    auto* registers = static_cast<std::uint32_t*>(lanes[lane].result);
    for (int matrix = 0; matrix < of(0).matrices; ++matrix) {
      for (int i = 0; i < 2; ++i) {
        const int across = lane % 4 * 2 + i, down = lane / 4;
        const int row = of(0).transposed ? across : down, column = of(0).transposed ? down : across;
        char* to = static_cast<char*>(const_cast<void*>(of(matrix * 8 + row).row)) + column * 2;
        std::memcpy(to, &half_of(registers[matrix], i), 2);
      }
    }
  }
}

void combine_move(Lane* lanes, std::uint32_t participants) {
  need_whole_warp(lanes, participants, "movmatrix");
  std::uint16_t matrix[8][8];
  for (int lane = 0; lane < 32; ++lane) std::memcpy(&matrix[lane / 4][lane % 4 * 2], lanes[lane].input, 4);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 2; ++i)
      std::memcpy(static_cast<char*>(lanes[lane].result) + 2 * i, &matrix[lane % 4 * 2 + i][lane / 4], 2);
  }
}

const Collective kLoadMatrix = {"ldmatrix", combine_load};
const Collective kStoreMatrix = {"stmatrix", combine_store};
const Collective kMoveMatrix = {"movmatrix", combine_move};

// Only the lanes whose rows are used need a right address.
bool brings_a_row(int matrices) {
  return static_cast<int>(lane_id()) < matrices * 8;
}

void run_mma(Place place, const MmaShape& shape, const void* a, const void* b, const void* c, void* d,
             Site site) {
  if (!current) fail("simt-launch", "mma.sync outside a kernel");
  const Operands operands{&shape, place, a, b, c};
  rendezvous(~0u, kMma, &operands, d, sizeof operands, 0, site);
}

}  // namespace

void mma_sync(const MmaShape& shape, const void* a, const void* b, const void* c, void* d, Site site) {
  run_mma(ptx_place, shape, a, b, c, d, site);
}

void wmma_mma_sync(const MmaShape& shape, const void* a, const void* b, const void* c, void* d, Site site) {
  run_mma(fragment_place, shape, a, b, c, d, site);
}

// As read from an H200: blocks of mma.sync's fragments, one after the other. What exceeds the matrix repeats
// it.
MatrixPlace wmma_place(MatrixUse use, int m, int n, int k, int element_bytes, int i, unsigned lane) {
  if (m == 8 && n == 32) {  // computed as the transposed product
    const MatrixUse other = use == MatrixUse::a   ? MatrixUse::b
                            : use == MatrixUse::b ? MatrixUse::a
                                                  : MatrixUse::accumulator;
    const MatrixPlace at = wmma_place(other, n, m, k, element_bytes, i, lane);
    return {at.column, at.row};
  }
  const int group = static_cast<int>(lane / 4), in_group = static_cast<int>(lane % 4);
  const int total = use == MatrixUse::a ? m * k : use == MatrixUse::b ? k * n : m * n;
  i %= total / 32;
  if (use == MatrixUse::accumulator) {
    const int column = in_group * 2 + i % 2;
    if (m == 8) return {group, column + i / 2 * 8};
    if (n == 8) return {group + i / 2 * 8, column};
    return {group + i / 2 % 2 * 8, column + i / 4 * 8};
  }
  const int per = std::max(1, 4 / element_bytes), reg = i / per, blocks = k / (4 * per);
  const int in_block = in_group * per + i % per;
  if (use == MatrixUse::b) return {reg % blocks * 4 * per + in_block, group + reg / blocks * 8};
  if (m == 8) return {group, reg * 4 * per + in_block};
  const int half = reg % 2, block = reg / 2 % blocks, tile = reg / 2 / blocks;
  return {group + half * 8 + tile * 16, block * 4 * per + in_block};
}

void ldmatrix(std::uint32_t* registers, const void* row, int matrices, bool transposed, Site site) {
  if (!current) fail("simt-launch", "ldmatrix outside a kernel");
  if (brings_a_row(matrices)) {
    check_shared_range(*current->block, row, 16, 16, "ldmatrix");
    if (tracing) trace_access(row, 16, false, __builtin_return_address(0));
    checked_read(row, 16, __builtin_return_address(0));
  }
  const RowOfLane mine{row, matrices, transposed};
  rendezvous(~0u, kLoadMatrix, &mine, registers, sizeof mine, 0, site);
}

void stmatrix(void* row, const std::uint32_t* registers, int matrices, bool transposed, Site site) {
  if (!current) fail("simt-launch", "stmatrix outside a kernel");
  if (brings_a_row(matrices)) {
    check_shared_range(*current->block, row, 16, 16, "stmatrix");
    if (tracing) trace_access(row, 16, true, __builtin_return_address(0));
    checked_write(row, 16, __builtin_return_address(0));
  }
  const RowOfLane mine{row, matrices, transposed};
  rendezvous(~0u, kStoreMatrix, &mine, const_cast<std::uint32_t*>(registers), sizeof mine, 0, site);
}

std::uint32_t movmatrix_transposed(std::uint32_t value, Site site) {
  std::uint32_t result;
  rendezvous(~0u, kMoveMatrix, &value, &result, sizeof value, 0, site);
  return result;
}

}  // namespace simt
