// SPDX-License-Identifier: MIT
//
// Attention of one token with keys in pages, on the CPU: the rows are gathered, and what decode_cpu.h has does
// the rest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/inputs.h"
#include "common/ladder.h"
#include "common/problems/decode_cpu.h"
#include "common/problems/paged_decode.h"
#include "common/structures.h"

namespace days {

// The rows in use of each sequence, one after the other, as a Decode. `store` writes the rows that it appended
// to their pages.
template <class T>
class GatheredDecode {
 public:
  explicit GatheredDecode(const PagedDecode<T>& p) : paged_(p) {
    int capacity = 1;
    for (int s = 0; s < p.sequences; ++s) {
      lengths_.push_back(keys_of(p, s) - 1);
      capacity = std::max(capacity, lengths_.back() + 1);
    }
    const size_t size = static_cast<size_t>(p.sequences) * static_cast<size_t>(p.kv_heads) *
                        static_cast<size_t>(capacity) * static_cast<size_t>(p.dim);
    k_.resize(size);
    v_.resize(size);
    decode_ = {p.q,       p.k_new,     p.v_new,   k_.data(),  v_.data(), lengths_.data(), p.o,
               p.lse,     p.sequences, p.heads,   p.kv_heads, capacity,  p.dim,           p.scale,
               p.q_pitch, p.new_pitch, p.o_pitch, {},         {}};
    for (int s = 0; s < p.sequences; ++s) {
      for (int h = 0; h < p.kv_heads; ++h) {
        for (int row = 0; row < lengths_[static_cast<size_t>(s)]; ++row) {
          std::copy_n(p.k + in_page(s, h, row), p.dim, decode_cache(decode_, k_.data(), s, h) + at(row));
          std::copy_n(p.v + in_page(s, h, row), p.dim, decode_cache(decode_, v_.data(), s, h) + at(row));
        }
      }
    }
  }
  GatheredDecode(const GatheredDecode&) = delete;

  const Decode<T>& decode() const { return decode_; }

  void store() const {
    for (int s = 0; s < paged_.sequences; ++s) {
      const int row = lengths_[static_cast<size_t>(s)];
      if (row < 0) continue;
      for (int h = 0; h < paged_.kv_heads; ++h) {
        std::copy_n(decode_cache(decode_, decode_.k, s, h) + at(row), paged_.dim,
                    paged_.k + in_page(s, h, row));
        std::copy_n(decode_cache(decode_, decode_.v, s, h) + at(row), paged_.dim,
                    paged_.v + in_page(s, h, row));
      }
    }
  }

 private:
  int64_t at(int row) const { return int64_t{row} * paged_.dim; }
  int64_t in_page(int s, int h, int row) const {
    const int32_t page = paged_.table[int64_t{s} * paged_.most_pages + row / paged_.page];
    return int64_t{row_in_page(paged_, page, h, row % paged_.page)} * paged_.dim;
  }

  PagedDecode<T> paged_;
  Decode<T> decode_;
  std::vector<int32_t> lengths_;
  std::vector<T> k_, v_;
};

// The truth.
template <class T>
void paged_decode_reference(const PagedDecode<T>& p) {
  const GatheredDecode<T> gathered(p);
  decode_reference(gathered.decode());
  gathered.store();
}
template <class T>
void paged_decode_parallel(const PagedDecode<T>& p) {
  const GatheredDecode<T> gathered(p);
  decode_parallel(gathered.decode());
  gathered.store();
}

// For .by_rows().
inline constexpr auto kPagedSequences = [](const auto& p) { return static_cast<size_t>(p.sequences); };
inline constexpr auto kSomePagedSequences = [](auto p, size_t begin, size_t end) {
  const int64_t first = static_cast<int64_t>(begin);
  p.sequences = static_cast<int>(end - begin);
  p.q += p.q_pitch.at(first, 0);
  p.k_new += p.new_pitch.at(first, 0);
  p.v_new += p.new_pitch.at(first, 0);
  p.table += first * p.most_pages;
  p.lengths += first;
  p.o += p.o_pitch.at(first, 0);
  p.lse += first * p.heads;
  return p;
};

// ---- Inputs: shapes {sequences, heads, kv_heads, longest, page, dim} ----

// Who has which pages. Two of them are nobody's, anywhere.
struct PagedRows {
  std::vector<int32_t> table, lengths;  // lengths: before the call
  std::vector<int32_t> first, used;  // (pages): a page's first row in its sequences, and how many are in use
  int64_t most_pages = 0, pages = 0, rows_in_use = 0;

  // Of row `row` of k or v, counted over all pages: its row in a sequence, which is none where nobody uses it.
  int row(size_t page, size_t in_page) const {
    return static_cast<int>(in_page) < used[page] ? first[page] + static_cast<int>(in_page) : -1;
  }
};

// Rows of sequence s after the call.
using PagedLengths = int (*)(uint64_t seed, int sequence, int longest);

// The first is the longest, the second has one row, the others anything.
inline int random_lengths(uint64_t seed, int sequence, int longest) {
  if (sequence < 2) return sequence == 0 ? longest : 1;
  return static_cast<int>(
      uniform_integer(seed, static_cast<uint64_t>(sequence), 1, static_cast<int64_t>(longest) + 1));
}
inline int equal_lengths(uint64_t, int, int longest) {
  return longest;
}
inline int one_long(uint64_t, int sequence, int longest) {
  return sequence == 0 ? longest : 1;
}
// Every other slot has no sequence.
inline int empty_slots(uint64_t, int sequence, int longest) {
  return sequence % 2 == 0 ? 0 : longest;
}

// What stands in a table behind a sequence's pages, and whether neighbours share what they can.
enum class Tables { kPlain, kStale, kShared };

inline PagedRows paged_rows(uint64_t seed, PagedLengths lengths, Tables tables, int64_t sequences,
                            int64_t longest, int64_t page) {
  if (sequences < 1 || longest < 1 || page < 1) {  // which launchers have to refuse, by that number
    PagedRows none;
    none.most_pages = longest;
    return none;
  }
  std::vector<int32_t> rows;
  for (int s = 0; s < sequences; ++s) rows.push_back(lengths(seed, s, static_cast<int>(longest)));
  rows.push_back(static_cast<int32_t>(std::min(2 * page, int64_t{1} << 30)));  // nobody's
  const int64_t most = std::max(ceil_div(longest, page), int64_t{2});
  PageTable made = random_pages(seed, rows, most, page);
  PagedRows all;
  all.most_pages = most;
  all.pages = made.count;
  const auto entry = [&](int64_t s, int64_t i) -> int32_t& {
    return made.pages[static_cast<size_t>(s * most + i)];
  };
  const auto have = [&](int64_t s) { return rows[static_cast<size_t>(s)]; };
  for (int64_t s = 0; s < sequences; ++s) {
    all.lengths.push_back(have(s) - 1);
    all.rows_in_use += have(s);
    if (tables == Tables::kStale) {
      for (int64_t i = ceil_div(int64_t{have(s)}, page); i < most; ++i) entry(s, i) = entry(sequences, i % 2);
    }
    if (tables == Tables::kShared && s % 2 == 1) {  // pages that both have filled before the call
      for (int64_t i = 0; (i + 1) * page < std::min(have(s - 1), have(s)); ++i) entry(s, i) = entry(s - 1, i);
    }
  }
  all.first.assign(static_cast<size_t>(made.count), 0);
  all.used = all.first;
  for (int64_t s = 0; s < sequences; ++s) {
    for (int64_t row = 0; row < have(s) - 1; row += page) {
      const auto at = static_cast<size_t>(entry(s, row / page));
      all.first[at] = static_cast<int32_t>(row);
      all.used[at] = static_cast<int32_t>(std::min(page, have(s) - 1 - row));
    }
  }
  made.pages.resize(static_cast<size_t>(sequences * most));
  all.table = std::move(made.pages);
  return all;
}

// The extents, tables and outputs; q, k_new, v_new, k and v are whatever fill(p, in, rows) makes.
template <class Fill>
auto paged_arrays(PagedLengths lengths, Tables tables, Fill fill) {
  return [=](auto& p, Shape s, Inputs& in) {
    p.sequences = s[0];
    p.heads = s[1];
    p.kv_heads = s[2];
    p.page = s[4];
    p.dim = s[5];
    p.scale = static_cast<float>(scalar("scale", 1.0f / std::sqrt(static_cast<float>(p.dim))));
    p.q_pitch = p.o_pitch = dense_pitch(p.heads, p.dim);
    p.new_pitch = dense_pitch(p.kv_heads, p.dim);
    const PagedRows& rows = in.structure(
        [&](uint64_t seed) { return paged_rows(seed, lengths, tables, p.sequences, s[3].value(), p.page); });
    p.most_pages = Extent(rows.most_pages);
    p.pages = rows.pages;
    p.rows_in_use = rows.rows_in_use;
    fill(p, in, rows);
    p.table = in.values("table", rows.table);
    p.lengths = in.values("lengths", rows.lengths);
    p.o = in.output("o", p.sequences, p.heads, p.dim);
    p.lse = in.output("lse", p.sequences, p.heads);
  };
}

// N(0, scale_qk^2) in q and the keys and N(0, 1) in the values, in use or not.
inline auto paged_inputs(PagedLengths lengths = random_lengths, Tables tables = Tables::kPlain,
                         double scale_qk = 1) {
  return paged_arrays(lengths, tables, [=](auto& p, Inputs& in, const PagedRows&) {
    const Extent of_new = Extent(p.sequences) * p.kv_heads * p.dim,
                 cache = Extent(p.pages) * p.kv_heads * p.page * p.dim;
    p.q = in.normal("q", Extent(p.sequences) * p.heads * p.dim, scale_qk);
    p.k_new = in.normal("k_new", of_new, scale_qk);
    p.v_new = in.normal("v_new", of_new);
    p.k = in.normal("k", cache, scale_qk).as(p.pages, p.kv_heads, p.page, p.dim);
    p.v = in.normal("v", cache).as(p.pages, p.kv_heads, p.page, p.dim);
  });
}

// Elements of keys from k(row, head, i) and of values from v(row, i), i counted over all, `row` in the
// sequence. What nobody uses is NaN.
template <class K, class V>
auto paged_elements(PagedLengths lengths, Tables tables, K k, V v, double scale_q = 1) {
  return paged_arrays(lengths, tables, [=](auto& p, Inputs& in, const PagedRows& rows) {
    const auto dim = static_cast<size_t>(p.dim), page = static_cast<size_t>(p.page),
               heads = static_cast<size_t>(p.kv_heads);
    const auto cached = [=, of = &rows](const auto& f) {
      return [=](size_t i) {
        const int row = of->row(i / dim / page / heads, i / dim % page);
        return row < 0 ? std::numeric_limits<double>::quiet_NaN()
                       : f(row, static_cast<int>(i / dim / page % heads), i);
      };
    };
    const auto added = [=, of = &rows](const auto& f) {
      return [=](size_t i) {
        return f(of->lengths[i / dim / heads], static_cast<int>(i / dim % heads), i + (size_t{1} << 40));
      };
    };
    const Extent of_new = Extent(p.sequences) * p.kv_heads * p.dim,
                 cache = Extent(p.pages) * p.kv_heads * p.page * p.dim;
    p.q = in.normal("q", Extent(p.sequences) * p.heads * p.dim, scale_q);
    p.k_new = in.fill("k_new", of_new, added(k));
    p.v_new = in.fill("v_new", of_new, added(v));
    p.k = in.fill("k", cache, cached(k)).as(p.pages, p.kv_heads, p.page, p.dim);
    p.v = in.fill("v", cache, cached(v)).as(p.pages, p.kv_heads, p.page, p.dim);
  });
}

namespace detail {
inline double paged_normal_k(int, int, size_t i) {
  return normal(322, i);
}
inline double paged_normal_v(int, int, size_t i) {
  return normal(323, i);
}
}  // namespace detail

// N(0, 1), and NaN wherever nothing is in use.
inline auto paged_nan_unused(PagedLengths lengths = random_lengths, Tables tables = Tables::kPlain) {
  return paged_elements(lengths, tables, detail::paged_normal_k, detail::paged_normal_v);
}
// Keys outweigh those before them in one head, and follow them in the next; one value in seventy is large.
inline auto paged_rising() {
  return paged_elements(
      random_lengths, Tables::kPlain,
      [](int row, int head, size_t i) {
        return (head % 2 == 0 ? 0.3 : -0.3) * (row % 97) * (i % 2 == 0 ? 1 : -1) + 0.1 * normal(324, i);
      },
      [](int row, int, size_t i) { return normal(323, i) * (row % 70 == 69 ? 100 : 1); });
}
// One key of the first head of each sequence has a NaN: o of that head's queries is NaN, and no other.
inline auto paged_nan_keys() {
  return paged_elements(
      random_lengths, Tables::kPlain,
      [](int row, int head, size_t i) {
        return head == 0 && row == 0 && i % 64 == 32 ? std::numeric_limits<double>::quiet_NaN()
                                                     : normal(322, i);
      },
      detail::paged_normal_v);
}

// ---- What a ladder needs besides ----

// The rows in use and their table in, the new rows and o out.
template <class T>
Traffic paged_decode_traffic(const PagedDecode<T>& p) {
  const double row = 1.0 * p.kv_heads * p.dim, added = p.sequences * row, heads = 1.0 * p.sequences * p.heads;
  const double old = static_cast<double>(p.rows_in_use - p.sequences) * row;
  return reads(p.q, heads * p.dim) + reads(p.k_new, added) + reads(p.v_new, added) + reads(p.k, old) +
         reads(p.v, old) + reads(p.lengths, p.sequences) +
         reads(p.table, static_cast<double>(p.rows_in_use) / p.page) + writes(p.k, added) +
         writes(p.v, added) + writes(p.o, heads * p.dim) + writes(p.lse, heads);
}

// Those of decode_cpu.h, for weights that are rounded to T.
struct PagedDecodeTolerance {
  template <class T>
  Bound operator()(Type<T> type, const PagedDecode<T>& p, Inputs& inputs) const {
    Bound bound = at_most_twice([](const auto& q) {
      const GatheredDecode gathered(q);
      decode_plain(gathered.decode(), true);
      gathered.store();
    })(type, p, inputs);
    const GatheredDecode<T> gathered(p);
    decode_append(gathered.decode());
    bound.absolute += detail::decode_rounding(gathered.decode());
    return bound;
  }
};
struct PagedDecodeLseTolerance {
  template <class T>
  Bound operator()(Type<T> type, const PagedDecode<T>& p, Inputs& inputs) const {
    const GatheredDecode<T> gathered(p);
    decode_append(gathered.decode());
    return DecodeLseTolerance{}(type, gathered.decode(), inputs);
  }
};

}  // namespace days
