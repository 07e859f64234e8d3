// SPDX-License-Identifier: MIT
#include "common/testing.h"
#include "day62_histogram_and_sort/compaction.h"
#include "day62_histogram_and_sort/histogram.h"
#include "day62_histogram_and_sort/radix_sort.h"
#include "day62_histogram_and_sort/top_k.h"

namespace day62 {
namespace {

// Device addresses that nothing follows: the launchers must have thrown before.
template <class T>
T* nowhere(int i) {
  return reinterpret_cast<T*>((uintptr_t{1} << 40) * static_cast<uintptr_t>(i));
}

TEST(Day62Refuses, MoreKeysThanABinCounts) {
  for (const auto& variant : days::variants<Histogram<uint8_t>>("histogram")) {
    for (const int64_t n : {int64_t{0}, int64_t{-1}, int64_t{1} << 32}) {
      const Histogram<uint8_t> p{nowhere<uint8_t>(1), nowhere<uint32_t>(2), n, {}};
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << " " << n;
    }
  }
}

TEST(Day62Refuses, MoreKeysThanOnesweepPublishes) {
  for (const auto& variant : days::variants<RadixSort<uint32_t>>("radix_sort")) {
    for (const int64_t n : {int64_t{0}, int64_t{-1}, kMaxSorted + 1}) {
      const RadixSort<uint32_t> p{
          nowhere<uint32_t>(1), nowhere<uint32_t>(2), n, {nowhere<char>(3), size_t{1} << 40}};
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << " " << n;
    }
  }
}

TEST(Day62Refuses, MoreElementsThanACountHas) {
  for (const char* ladder : {"compaction", "compaction_stable"}) {
    for (const auto& variant : days::variants<Compaction<float>>(ladder)) {
      for (const int64_t n : {int64_t{0}, int64_t{-1}, int64_t{1} << 32}) {
        const Compaction<float> p{nowhere<float>(1),
                                  nowhere<float>(2),
                                  nowhere<uint32_t>(3),
                                  n,
                                  0,
                                  {nowhere<char>(4), size_t{1} << 40}};
        EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << " " << n;
      }
    }
  }
}

TEST(Day62Refuses, MoreThanARowHasOrABlockSorts) {
  for (const auto& variant : days::variants<TopK<days::bf16>>("top_k")) {
    const auto refused = [&](int rows, int cols, int k) {
      const TopK<days::bf16> p{nowhere<days::bf16>(1),
                               nowhere<days::bf16>(2),
                               nowhere<int32_t>(3),
                               rows,
                               cols,
                               k,
                               {nowhere<char>(4), size_t{1} << 40}};
      EXPECT_THROW(variant.launch(p), std::invalid_argument)
          << variant.name << " " << rows << " " << cols << " " << k;
    };
    refused(0, 4, 1);
    refused(4, 0, 1);
    refused(4, 4, 0);
    refused(4, 4, -1);
    refused(4, 4, 5);
    refused(4, 1000, kMaxK + 1);
    if (variant.name == "slices") refused(1, (1 << 20) + 1, 1);
    if (variant.name == "slices") refused(65536, 4, 1);
  }
}

}  // namespace
}  // namespace day62
