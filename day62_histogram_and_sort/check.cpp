// SPDX-License-Identifier: MIT
// The checks of results that are not unique: of equal elements top-k may take any, and a compaction that is
// not stable may keep any order.
#include "day62_histogram_and_sort/check.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/random.h"

namespace day62 {
namespace {

uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

std::string element(const char* name, int64_t i, float value) {
  return std::string(name) + "[" + std::to_string(i) + "] is " +
         days::Report::number(static_cast<double>(value));
}

// The elements to be kept, in the order of x.
std::vector<float> kept(const Compaction<float>& p) {
  std::vector<float> all;
  std::copy_if(p.x, p.x + p.n, std::back_inserter(all), [&p](float x) { return x > p.threshold; });
  return all;
}

days::Report wrong_count(const Compaction<float>& p, size_t expected) {
  return days::Report::failed("count is " + std::to_string(*p.count) + ", expected " +
                              std::to_string(expected));
}

// 128 bits that the same elements make in any order, and others as good as never: the sum of one hash of theirs and the exclusive or
// of another. Sorting takes far longer, and is left for what is wrong.
class Bag {
 public:
  void add(float x) {
    const uint64_t hash = days::mix(bits_of(x) + 0x5851f42d4c957f2du);
    sum_ += hash;
    both_ ^= days::mix(hash + 0x14057b7ef767814fu);
  }
  bool operator==(const Bag&) const = default;

 private:
  uint64_t sum_ = 0, both_ = 0;
};

}  // namespace

days::Report check_stable_compaction(const Compaction<float>& p) {
  const std::vector<float> want = kept(p);
  if (*p.count != want.size()) return wrong_count(p, want.size());
  const auto [got, expected] = std::mismatch(p.y, p.y + want.size(), want.begin(),
                                             [](float a, float b) { return bits_of(a) == bits_of(b); });
  if (expected == want.end()) return {};
  return days::Report::failed(element("y", got - p.y, *got) + ", expected " +
                              days::Report::number(static_cast<double>(*expected)));
}

days::Report check_compaction(const Compaction<float>& p) {
  Bag of_x, of_y;
  size_t count = 0;
  for (int64_t i = 0; i < p.n; ++i) {
    if (!(p.x[i] > p.threshold)) continue;
    of_x.add(p.x[i]);
    ++count;
  }
  if (*p.count != count) return wrong_count(p, count);
  for (size_t i = 0; i < count; ++i) of_y.add(p.y[i]);
  if (of_x == of_y) return {};
  std::vector<float> want = kept(p);  // sorted, they are unique
  const auto less = [](float a, float b) { return bits_of(a) < bits_of(b); };
  std::vector<float> got(p.y, p.y + want.size());
  std::sort(want.begin(), want.end(), less);
  std::sort(got.begin(), got.end(), less);
  for (size_t i = 0; i < want.size(); ++i) {
    if (bits_of(got[i]) == bits_of(want[i])) continue;
    // The smaller of the two is one too many, or is missing.
    const bool missing = less(want[i], got[i]);
    const float value = missing ? want[i] : got[i];
    const int64_t at =
        std::find_if(p.y, p.y + want.size(), [&](float y) { return bits_of(y) == bits_of(value); }) - p.y;
    return days::Report::failed(
        missing ? "an element " + days::Report::number(static_cast<double>(value)) + " of x is missing in y"
                : element("y", at, value) + ", once more than x has it above the threshold");
  }
  return {};
}

template <class T>
days::Report check_indices(const TopK<T>& p) {
  std::vector<int64_t> last_row(static_cast<size_t>(p.cols), -1);  // that has taken each column
  for (int64_t row = 0; row < p.rows; ++row) {
    for (int64_t i = row * p.k; i < (row + 1) * p.k; ++i) {
      const int32_t col = p.indices[i];
      const std::string place = "indices[" + std::to_string(row) + "," + std::to_string(i - row * p.k) +
                                "] is " + std::to_string(col);
      if (col < 0 || col >= p.cols) {
        return days::Report::failed(place + ", and a row has columns 0 to " + std::to_string(p.cols - 1));
      }
      if (last_row[static_cast<size_t>(col)] == row) {
        return days::Report::failed(place + ", which the row has taken before");
      }
      last_row[static_cast<size_t>(col)] = row;
      const double there = days::to_double(p.x[row * p.cols + col]), value = days::to_double(p.values[i]);
      if (!(there == value) && (there == there || value == value)) {
        return days::Report::failed(place + ", where x is " + days::Report::number(there) + " and not " +
                                    days::Report::number(value));
      }
    }
  }
  return {};
}
template days::Report check_indices(const TopK<float>&);
template days::Report check_indices(const TopK<days::bf16>&);

}  // namespace day62
