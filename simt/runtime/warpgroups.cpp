// SPDX-License-Identifier: MIT
//
// Matrix products of a warpgroup. Each warp computes its 16 rows by itself, at its own wait; the four only have to ask for the same
// number of products.
#include <algorithm>
#include <cmath>

#include "matrix_elements.h"
#include "ordering.h"
#include "simt/float16_bits.h"
#include "warpgroup_products.h"

namespace simt {
namespace {

constexpr int kRows = 16;  // of a warp
constexpr int kMostColumns = 256;
constexpr std::uint32_t kChunk =
    16;  // bytes: what a swizzle moves is as long, and so is a row of a core matrix

// ---- descriptors ----

// A tile of shared memory, as a descriptor has it.
struct Tile {
  std::uint32_t start, leading, stride;  // bytes
  std::uint32_t width;                   // of the swizzle; 0: none
};

Tile tile_of(std::uint64_t descriptor) {
  constexpr std::uint32_t kWidths[] = {0, 128, 64, 32};
  const auto bytes = [descriptor](int at, std::uint32_t mask) {
    return (static_cast<std::uint32_t>(descriptor >> at) & mask) << 4;
  };
  return {bytes(0, 0x7fff), bytes(16, 0x3fff), bytes(32, 0x3fff), kWidths[descriptor >> 62]};
}

// Where 16 bytes of a tile lie in the block's shared memory. Along k: the bytes from `across` on of row `down`. Along rows: the rows from
// across / 2 on, of k `down`.
std::uint32_t chunk_of(const Tile& t, bool by_rows, std::uint32_t down, std::uint32_t across) {
  if (t.width == 0) {
    const std::uint32_t next_8 = by_rows ? t.leading : t.stride,
                        next_16_bytes = by_rows ? t.stride : t.leading;
    return t.start + down / 8 * next_8 + across / 16 * next_16_bytes + down % 8 * 16;
  }
  const std::uint32_t address = t.start + across / t.width * (by_rows ? t.leading : 0) + down / 8 * t.stride +
                                down % 8 * t.width + across % t.width;
  return address ^ (address >> 3 & (t.width - kChunk));
}

void check_tile(const Tile& t, std::uint64_t descriptor, const char* name, Site site) {
  if (descriptor >> 49 & 7)
    fail_at(site, "simt-wgmma",
            "wgmma: the base offset of %s's descriptor is not 0\nThe CPU backend knows tiles at multiples of "
            "1024 alone.",
            name);
  const std::uint32_t block = 8 * t.width;
  if (block != 0 && t.start % block >= t.width) {
    fail_at(site, "simt-misaligned",
            "wgmma: %s begins %u bytes past a multiple of %u\nWith a swizzle of %u bytes eight rows are a "
            "block, which begins at such a multiple.",
            name, t.start % block, block, t.width);
  }
}

// ---- operands ----

int depth_of(MatrixType type) {
  return 32 * 8 / bits_of(type);
}

bool same_shape(const WgmmaShape& x, const WgmmaShape& y) {
  return x.n == y.n && x.a == y.a && x.b == y.b && x.a_by_rows == y.a_by_rows && x.b_by_rows == y.b_by_rows;
}

struct ProductOperands {
  const WgmmaShape* shape;
  void* d;
  const std::uint32_t* a_registers;
  std::uint64_t a, b;
  bool add;
  void* caller;
};

// Calls action(offset of 16 bytes in shared memory, down, across) for all of an operand that lies there: `first` is the first of `count`
// rows.
template <class Action>
void for_each_chunk(std::uint64_t descriptor, bool by_rows, MatrixType type, int first, int count,
                    Action action) {
  const Tile tile = tile_of(descriptor);
  if (by_rows) {
    for (int k = 0; k < depth_of(type); ++k)
      for (int row = first; row < first + count; row += 8)
        action(chunk_of(tile, true, static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(row * 2)), k,
               row);
  } else {
    for (int row = first; row < first + count; ++row)
      for (std::uint32_t across = 0; across < 32; across += kChunk)
        action(chunk_of(tile, false, static_cast<std::uint32_t>(row), across), row, static_cast<int>(across));
  }
}

template <class Action>
void for_each_chunk(const WarpgroupProducts::Product& p, int first_row, Action action) {
  if (!p.from_registers)
    for_each_chunk(p.a, p.shape.a_by_rows, p.shape.a, first_row, kRows,
                   [&](std::uint32_t at, int, int) { action(at, "a"); });
  for_each_chunk(p.b, p.shape.b_by_rows, p.shape.b, 0, p.shape.n,
                 [&](std::uint32_t at, int, int) { action(at, "b"); });
}

// One operand as numbers: to[row * row_step + k * k_step]. All 8-bit floats are looked up, as they take longest.
template <class T>
void read_tile(const Block& block, std::uint64_t descriptor, bool by_rows, MatrixType type, int first,
               int count, int row_step, int k_step, T* to) {
  const int bytes = bits_of(type) / 8, each = static_cast<int>(kChunk) / bytes;
  for_each_chunk(descriptor, by_rows, type, first, count, [&](std::uint32_t at, int down, int across) {
    T values[16];
    elements_of(type, block.shared + at, each, values);
    const int row = (by_rows ? across : down) - first, k = by_rows ? down : across / bytes;
    T* place = to + row * row_step + k * k_step;
    for (int i = 0; i < each; ++i) place[i * (by_rows ? row_step : k_step)] = values[i];
  });
}

// a in registers: a register holds neighbours along k, registers 0 and 1 rows eight apart, 2 and 3 the same rows further along k.
template <class T>
void read_registers(const WarpgroupProducts::Product& p, T* to) {
  const int depth = depth_of(p.shape.a), per = depth / 8;
  for (int lane = 0; lane < 32; ++lane) {
    for (int reg = 0; reg < 4; ++reg) {
      T values[4];
      elements_of(p.shape.a,
                  reinterpret_cast<const char*>(&p.registers[static_cast<std::size_t>(lane * 4 + reg)]), per,
                  values);
      std::copy_n(values, per, to + (lane / 4 + reg % 2 * 8) * depth + (lane % 4 + reg / 2 * 4) * per);
    }
  }
}

// ---- sums ----

// c += a * b; c: 16 x n, a: 16 x depth, b: depth x n. Products are exact in double: without a fused step every CPU gives the same sum.
#if defined(__x86_64__) && defined(__GLIBC__)
__attribute__((target_clones("avx2", "default")))
#endif
void multiply_warp(int n, int depth, const double* a, const double* b, float* c) {
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < n; column += 8) {
      double sum[8];
      for (int i = 0; i < 8; ++i) sum[i] = static_cast<double>(c[row * n + column + i]);
      for (int k = 0; k < depth; ++k)
        for (int i = 0; i < 8; ++i) sum[i] += a[row * depth + k] * b[k * n + column + i];
      for (int i = 0; i < 8; ++i) c[row * n + column + i] = static_cast<float>(sum[i]);
    }
  }
}

// As tensor cores add products of 8-bit floats: each summand loses what lies more than `bits` below the first bit of the largest.
void multiply_warp_cut(int bits, int n, int depth, const double* a, const double* b, float* c) {
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < n; ++column) {
      double summands[33], largest = 0;
      for (int k = 0; k < depth; ++k) summands[k] = a[row * depth + k] * b[k * n + column];
      summands[depth] = static_cast<double>(c[row * n + column]);
      bool finite = true;
      for (int k = 0; k <= depth; ++k) {
        finite &= std::isfinite(summands[k]);
        largest = std::max(largest, std::fabs(summands[k]));
      }
      double sum = 0;
      const double unit = finite && largest > 0 ? std::ldexp(1.0, std::ilogb(largest) - bits) : 0;
      for (int k = 0; k <= depth; ++k) sum += unit > 0 ? std::trunc(summands[k] / unit) * unit : summands[k];
      c[row * n + column] = static_cast<float>(sum);
    }
  }
}

void multiply_warp_integers(int n, int depth, const std::int32_t* a, const std::int32_t* b,
                            std::uint32_t* c) {
  for (int row = 0; row < kRows; ++row)
    for (int k = 0; k < depth; ++k)
      for (int column = 0; column < n; ++column)
        c[row * n + column] += static_cast<std::uint32_t>(a[row * depth + k] * b[k * n + column]);
}

template <class T>
struct Matrices {
  alignas(64) T a[kRows * 32], b[32 * kMostColumns];
};

template <class T>
const Matrices<T>& read_operands(const Block& block, const WarpgroupProducts::Product& p, int first_row) {
  thread_local Matrices<T> m;
  const int depth = depth_of(p.shape.a);
  if (p.from_registers) {
    read_registers(p, m.a);
  } else {
    read_tile(block, p.a, p.shape.a_by_rows, p.shape.a, first_row, kRows, depth, 1, m.a);
  }
  read_tile(block, p.b, p.shape.b_by_rows, p.shape.b, 0, p.shape.n, 1, p.shape.n, m.b);
  return m;
}

void run_product(const Block& block, const WarpgroupProducts::Product& p, int first_row,
                 std::vector<std::uint32_t>& sums) {
  const int n = p.shape.n, depth = depth_of(p.shape.a);
  if (!p.add) std::fill(sums.begin(), sums.end(), 0u);
  if (is_integer(p.shape.a)) {
    const auto& m = read_operands<std::int32_t>(block, p, first_row);
    multiply_warp_integers(n, depth, m.a, m.b, sums.data());
    return;
  }
  const auto& m = read_operands<double>(block, p, first_row);
  auto* c = reinterpret_cast<float*>(sums.data());
  if (bits_of(p.shape.a) == 8 && options().fp8_sum_bits > 0) {
    multiply_warp_cut(options().fp8_sum_bits, n, depth, m.a, m.b, c);
  } else {
    multiply_warp(n, depth, m.a, m.b, c);
  }
}

// ---- accumulators ----

// Element i of a lane's accumulators, in the warp's 16 x n.
int place_of_sum(int n, int lane, int i) {
  return (lane / 4 + i % 4 / 2 * 8) * n + i / 4 * 8 + lane % 4 * 2 + i % 2;
}

// To the lanes' registers and back.
void take(WarpgroupProducts::Sums& s) {
  s.values.resize(static_cast<std::size_t>(kRows * s.n));
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < s.n / 2; ++i) {
      char* from = static_cast<char*>(s.d[lane]) + i * 4;
      std::memcpy(&s.values[static_cast<std::size_t>(place_of_sum(s.n, lane, i))], from, 4);
      constexpr std::uint32_t kNan = 0x7fffffffu;
      std::memcpy(from, &kNan, 4);
    }
  }
}
void give_back(const WarpgroupProducts::Sums& s) {
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < s.n / 2; ++i) {
      float value;
      std::memcpy(&value, &s.values[static_cast<std::size_t>(place_of_sum(s.n, lane, i))], 4);
      if (!s.integers && value != value) value = float_of_bits(0x7fffffffu);  // the tensor cores' NaN
      std::memcpy(static_cast<char*>(s.d[lane]) + i * 4, &value, 4);
    }
  }
}

bool holds(const WarpgroupProducts::Sums& s) {
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < s.n / 2; ++i) {
      const std::uint32_t value = s.values[static_cast<std::size_t>(place_of_sum(s.n, lane, i))];
      std::uint32_t now;
      std::memcpy(&now, static_cast<const char*>(s.d[lane]) + i * 4, 4);
      const bool nan = !s.integers && (value & 0x7fffffffu) > 0x7f800000u;
      if (nan ? (now & 0x7fffffffu) <= 0x7f800000u : now != value) return false;
    }
  }
  return true;
}

// ---- a warp's products ----

WarpgroupProducts::OfWarp& products_of(Warp& warp) {
  Block& block = *warp.threads->block;
  if (!block.products) block.products = new WarpgroupProducts;
  if (block.products->warps.size() < block.warps.size()) block.products->warps.resize(block.warps.size());
  return block.products->warps[warp.id];
}

int first_row_of(const Warp& warp) {
  return static_cast<int>(warp.id % 4) * kRows;
}

// Each 16 bytes that the product reads: a read by the warp, and the product's until the wait.
void own_operands(Block& block, const WarpgroupProducts::Product& p, int first_row, void* caller) {
  if (tracing) {  // b is read once for the four
    const int rows = (p.from_registers ? 0 : kRows) + (first_row == 0 ? p.shape.n : 0);
    trace_product(static_cast<std::size_t>(rows) * 32);
  }
  for_each_chunk(p, first_row, [&](std::uint32_t at, const char* name) {
    if (at + kChunk > block.shared_bytes) {
      fail("simt-oob-shared",
           "wgmma: %s reaches %u bytes past the block's shared memory\nIts descriptor's start, leading and "
           "stride bytes say where it lies.",
           name, static_cast<unsigned>(at + kChunk - block.shared_bytes));
    }
    const char* bytes = block.shared + at;
    if (tracing || !checked_build) return;
    checked_read(bytes, kChunk, caller);
    check_proxy_fence(block, bytes, kChunk, "wgmma", caller);
  });
  if (tracing || !checked_build) return;
  if (block.products->readers.empty()) block.products->readers.resize(block.shared_bytes / kChunk);
  for_each_chunk(p, first_row, [&](std::uint32_t at, const char*) {
    WarpgroupProducts::Readers& r = block.products->readers[at / kChunk];
    ++r.count;
    r.caller = caller;
  });
  ++worker->pending_copies;
}

void release_operands(Block& block, const WarpgroupProducts::Product& p, int first_row) {
  if (!checked_build || tracing) return;
  for_each_chunk(p, first_row,
                 [&](std::uint32_t at, const char*) { --block.products->readers[at / kChunk].count; });
  --worker->pending_copies;
}

void combine_product(Lane* lanes, std::uint32_t participants) {
  need_whole_warp(lanes, participants, "wgmma");
  Warp& warp = *worker->meeting;
  Block& block = *warp.threads->block;
  const auto& first = *static_cast<const ProductOperands*>(lanes[0].input);
  const Site site = lanes[0].site;
  if (warp.id / 4 * 4 + 4 > block.warps.size() || block.size % 32 != 0) {
    fail_at(site, "simt-wgmma",
            "wgmma by a warp that is not of a whole warpgroup\nA warpgroup is four warps, the first of which "
            "is a multiple of four; the block has %u threads.",
            block.size);
  }
  WarpgroupProducts::Product p;
  p.shape = *first.shape;
  p.a = first.a;
  p.b = first.b;
  p.add = first.add;
  p.from_registers = first.a_registers != nullptr;
  for (int lane = 0; lane < 32; ++lane) {
    const auto& other = *static_cast<const ProductOperands*>(lanes[lane].input);
    if (!same_shape(*other.shape, p.shape) || other.a != p.a || other.b != p.b || other.add != p.add ||
        (other.a_registers != nullptr) != p.from_registers)
      fail_at(lanes[lane].site, "simt-wgmma",
              "the lanes of one wgmma name different shapes, descriptors, or values of scale-d\nThey must be "
              "the same in all 128 threads.");
    if (p.from_registers) p.registers.insert(p.registers.end(), other.a_registers, other.a_registers + 4);
  }
  if (!p.from_registers) check_tile(tile_of(p.a), p.a, "a", site);
  check_tile(tile_of(p.b), p.b, "b", site);

  WarpgroupProducts::OfWarp& own = products_of(warp);
  auto sums = std::find_if(own.sums.begin(), own.sums.end(), [&](const auto& s) {
    return s.d[0] == first.d && s.n == p.shape.n && s.integers == is_integer(p.shape.a);
  });
  if (sums == own.sums.end()) {
    own.sums.emplace_back();
    sums = std::prev(own.sums.end());
    sums->n = p.shape.n;
    sums->integers = is_integer(p.shape.a);
  }
  if (sums->pending == 0) {  // the registers are the program's
    for (int lane = 0; lane < 32; ++lane)
      sums->d[lane] = static_cast<const ProductOperands*>(lanes[lane].input)->d;
    const bool touched = sums->values.empty() || !holds(*sums);
    if (!own.fenced && (touched || p.from_registers)) {
      fail_at(
          site, "simt-wgmma",
          "wgmma without a wgmma.fence\nThreads have %s since the last one: the product may not see that.",
          touched ? "touched the accumulators" : "loaded a's registers");
    }
    take(*sums);
  }
  ++sums->pending;
  p.sums = &*sums;
  own_operands(block, p, first_row_of(warp), first.caller);
  ++own.asked;
  own.caller = first.caller;
  own.site = site;
  own.open.push_back(std::move(p));
}

void combine_fence(Lane* lanes, std::uint32_t participants) {
  need_whole_warp(lanes, participants, "wgmma.fence");
  products_of(*worker->meeting).fenced = true;
}

void combine_commit(Lane* lanes, std::uint32_t participants) {
  need_whole_warp(lanes, participants, "wgmma.commit_group");
  WarpgroupProducts::OfWarp& own = products_of(*worker->meeting);
  own.groups.push_back(std::move(own.open));
  own.open.clear();
}

void combine_wait(Lane* lanes, std::uint32_t participants) {
  need_whole_warp(lanes, participants, "wgmma.wait_group");
  Warp& warp = *worker->meeting;
  Block& block = *warp.threads->block;
  WarpgroupProducts::OfWarp& own = products_of(warp);
  own.fenced = false;
  for (const auto left = static_cast<std::size_t>(lanes[0].operand); own.groups.size() > left;
       own.groups.pop_front()) {
    for (const WarpgroupProducts::Product& p : own.groups.front()) {
      run_product(block, p, first_row_of(warp), p.sums->values);
      release_operands(block, p, first_row_of(warp));
      if (--p.sums->pending == 0) give_back(*p.sums);
    }
  }
  order_warp(warp);  // the lanes' later writes come after what the products have read
}

const Collective kProduct = {"wgmma", combine_product};
const Collective kFence = {"wgmma.fence", combine_fence};
const Collective kCommit = {"wgmma.commit_group", combine_commit};
const Collective kWait = {"wgmma.wait_group", combine_wait};

}  // namespace

void finish_block_products(Block& block) {
  WarpgroupProducts& products = *block.products;
  const auto complain = [&](const Warp& warp, const WarpgroupProducts::OfWarp& asking,
                            const std::string& what) {
    Failure failure = failure_here("simt-wgmma", what);
    failure.frames = {asking.caller};
    failure.site = asking.site;
    failure.has_thread = true;
    failure.block = block.index;
    failure.thread = warp.threads->index;
    record_failure(*worker->launch, std::move(failure));
  };
  for (std::size_t i = 0; i < products.warps.size() && !worker->stopped(); ++i) {
    const WarpgroupProducts::OfWarp &own = products.warps[i], &first = products.warps[i / 4 * 4];
    const bool unfinished = !own.open.empty() || std::any_of(own.groups.begin(), own.groups.end(),
                                                             [](const auto& g) { return !g.empty(); });
    if (unfinished) {
      complain(block.warps[i], own,
               "a warp returns before its products have ended\nwgmma.commit_group and wgmma.wait_group must "
               "come before.");
      break;
    }
    if (own.asked != first.asked) {
      complain(block.warps[i], own.asked > first.asked ? own : first,
               format_text("the warps of a warpgroup have not asked for the same products\nWarp %zu has "
                           "asked for %llu of them, warp %zu for %llu.",
                           i / 4 * 4, static_cast<unsigned long long>(first.asked), i,
                           static_cast<unsigned long long>(own.asked)));
      break;
    }
  }
  forget_block_products(block);
}

void forget_block_products(Block& block) {
  for (const WarpgroupProducts::OfWarp& own : block.products->warps) {
    std::size_t pending = own.open.size();
    for (const auto& group : own.groups) pending += group.size();
    if (checked_build && !tracing)
      worker->pending_copies -= static_cast<decltype(worker->pending_copies)>(pending);
  }
  block.products->warps.clear();
  std::fill(block.products->readers.begin(), block.products->readers.end(), WarpgroupProducts::Readers{});
}

void* product_that_reads(const Block& block, const char* p, std::size_t bytes) {
  if (!block.products || block.products->readers.empty() || p < block.shared ||
      p >= block.shared + block.shared_bytes)
    return nullptr;
  const auto offset = static_cast<std::size_t>(p - block.shared);
  for (std::size_t i = offset / kChunk; i <= (offset + bytes - 1) / kChunk; ++i)
    if (block.products->readers[i].count > 0) return block.products->readers[i].caller;
  return nullptr;
}

void wgmma(const WgmmaShape& shape, void* d, const std::uint32_t* a_registers, std::uint64_t a,
           std::uint64_t b, bool add, Site site) {
  const ProductOperands operands{&shape, d, a_registers, a, b, add, issuer(__builtin_return_address(0))};
  rendezvous(~0u, kProduct, &operands, nullptr, sizeof operands, 0, site);
}
void wgmma_fence(Site site) {
  rendezvous(~0u, kFence, nullptr, nullptr, 0, 0, site);
}
void wgmma_commit_group(Site site) {
  rendezvous(~0u, kCommit, nullptr, nullptr, 0, 0, site);
}
void wgmma_wait_group(int left, Site site) {
  rendezvous(~0u, kWait, nullptr, nullptr, 0, left, site);
}

}  // namespace simt
