// SPDX-License-Identifier: MIT
//
// cooperative_groups' tiles and partitions. Included by cooperative_groups.h.
#pragma once

#define SIMT_SITE simt::Site site = simt::here()

namespace cooperative_groups {

// ---- tiles ----

namespace details {
template <unsigned int kSize, bool kSeveralWarps = (kSize > 32)>
class Tile : public Lanes {
 public:
  Tile(unsigned int meta_rank, unsigned int meta_size) : Lanes(tile_mask(kSize), meta_rank, meta_size) {}
  template <class T>
  T shfl_xor(T value, unsigned int lane_mask, SIMT_SITE) const {
    return simt::shuffle(mask_, value, static_cast<int>(simt::lane_id() ^ (lane_mask % kSize)), site);
  }
  static constexpr unsigned int kFull = kSize;
};
template <unsigned int kSize>
class Tile<kSize, true> : public Warps<kSize> {
 public:
  using Warps<kSize>::Warps;
  static constexpr unsigned int kFull = 32;
};
}  // namespace details

template <unsigned int kSize, class Parent = void>
class thread_block_tile : public details::Tile<kSize> {
  static_assert(kSize >= 1 && (kSize & (kSize - 1)) == 0, "a tile's size is a power of two");

 public:
  explicit thread_block_tile(const Parent& parent)
      : details::Tile<kSize>(static_cast<unsigned int>(parent.thread_rank()) / kSize,
                             (static_cast<unsigned int>(parent.size()) + kSize - 1) / kSize) {}
  static constexpr unsigned int size() { return kSize; }
  static constexpr unsigned int num_threads() { return kSize; }
  static unsigned int thread_rank() { return details::block_rank_of_thread() % kSize; }
};
// Of any parent: what functions take as an argument.
template <unsigned int kSize>
class thread_block_tile<kSize, void> : public details::Tile<kSize> {
 public:
  thread_block_tile() : details::Tile<kSize>(0, 1) {}
  template <class Parent>
  thread_block_tile(const thread_block_tile<kSize, Parent>& tile)
      : details::Tile<kSize>(tile.meta_group_rank(), tile.meta_group_size()) {}
  static constexpr unsigned int size() { return kSize; }
  static constexpr unsigned int num_threads() { return kSize; }
  static unsigned int thread_rank() { return details::block_rank_of_thread() % kSize; }
};

template <unsigned int kSize, class Parent>
inline thread_block_tile<kSize, Parent> tiled_partition(const Parent& parent) {
  return thread_block_tile<kSize, Parent>(parent);
}
inline thread_block_tile<1> this_thread() {
  return {};
}

// ---- any of these, its kind known at run time only ----

class thread_group {
 public:
  thread_group(const thread_block&) : kind_(Kind::block) {}
  thread_group(const grid_group&) : kind_(Kind::grid) {}
  thread_group(const cluster_group&) : kind_(Kind::cluster) {}
  thread_group(const details::Lanes& lanes)
      : mask_(lanes.simt_mask()), meta_rank_(lanes.meta_group_rank()), meta_size_(lanes.meta_group_size()) {}

  void sync(SIMT_SITE) const {
    switch (kind_) {
      case Kind::lanes:
        return simt::sync_warp(mask_, site);
      case Kind::block:
        return simt::sync_threads(site);
      case Kind::cluster:
        return simt::sync_cluster(site);
      case Kind::grid:
        return simt::sync_grid(site);
    }
  }
  unsigned long long size() const {
    return kind_ == Kind::lanes     ? static_cast<unsigned>(__builtin_popcount(mask_))
           : kind_ == Kind::block   ? thread_block::size()
           : kind_ == Kind::cluster ? cluster_group::size()
                                    : grid_group::size();
  }
  unsigned long long num_threads() const { return size(); }
  unsigned long long thread_rank() const {
    return kind_ == Kind::lanes     ? details::rank_in(mask_)
           : kind_ == Kind::block   ? thread_block::thread_rank()
           : kind_ == Kind::cluster ? cluster_group::thread_rank()
                                    : grid_group::thread_rank();
  }
  bool simt_is_block() const { return kind_ == Kind::block; }
  details::Lanes simt_lanes() const { return details::Lanes(mask_, meta_rank_, meta_size_); }

 private:
  enum class Kind { lanes, block, cluster, grid } kind_ = Kind::lanes;
  unsigned int mask_ = 0, meta_rank_ = 0, meta_size_ = 1;
};

// Tiles whose size is known at run time only: at most 32 lanes.
namespace details {
inline void check_tile_size(unsigned int size) {
  if (size == 0 || size > 32 || (size & (size - 1)) != 0)
    simt::fail("simt-launch", "tiled_partition into tiles of %u threads: 1, 2, 4, 8, 16 or 32 are possible",
               size);
}
}  // namespace details
inline thread_group tiled_partition(const thread_block& block, unsigned int size) {
  details::check_tile_size(size);
  return details::Lanes(details::tile_mask(size), block.thread_rank() / size,
                        (block.size() + size - 1) / size);
}
// Consecutive ranks of the parent, whichever lanes they have.
inline coalesced_group tiled_partition(const details::Lanes& parent, unsigned int size) {
  details::check_tile_size(size);
  const unsigned int mine = parent.thread_rank() / size;
  unsigned int mask = 0, rank = 0;
  for (unsigned int rest = parent.simt_mask(); rest; rest &= rest - 1, ++rank)
    if (rank / size == mine) mask |= rest & (~rest + 1);
  return coalesced_group(mask, mine, (parent.size() + size - 1) / size);
}
inline thread_group tiled_partition(const thread_group& parent, unsigned int size) {
  if (parent.simt_is_block()) return tiled_partition(this_thread_block(), size);
  return tiled_partition(parent.simt_lanes(), size);
}

// ---- the lanes of a group that agree on a predicate or on a label ----

inline coalesced_group binary_partition(const details::Lanes& group, bool predicate, SIMT_SITE) {
  const unsigned int all = group.simt_mask(), yes = simt::ballot(all, predicate, site);
  if (yes == all || yes == 0) return coalesced_group(all);
  return coalesced_group(predicate ? yes : all & ~yes, predicate ? 1 : 0, 2);
}
template <class Label>
inline coalesced_group labeled_partition(const details::Lanes& group, Label label, SIMT_SITE) {
  const unsigned int mine = simt::match_any(group.simt_mask(), label, site);
  // Partitions are numbered by their lowest lane: those lanes are the heads.
  const bool head = simt::lane_id() == static_cast<unsigned>(__builtin_ctz(mine));
  const unsigned int heads = simt::ballot(group.simt_mask(), head, site);
  const auto count = static_cast<unsigned>(__builtin_popcount(heads));
  const auto rank = static_cast<unsigned>(__builtin_popcount(heads & ((1u << __builtin_ctz(mine)) - 1)));
  return coalesced_group(mine, rank, count);
}
inline coalesced_group labeled_partition(const details::Lanes& group, bool label, SIMT_SITE) {
  return binary_partition(group, label, site);
}

}  // namespace cooperative_groups

#undef SIMT_SITE
