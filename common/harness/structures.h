// SPDX-License-Identifier: MIT
//
// Part of instance.cpp: structures.h's definitions.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/inputs.h"
#include "common/random.h"
#include "common/structures.h"
#include "common/util.h"

namespace days {

Csr random_csr(uint64_t seed, int64_t rows, int64_t cols, int64_t mean, RowLengths lengths) {
  require(rows > 0 && cols > 0 && mean >= 0, "random_csr: rows and columns are positive, not", rows);
  // Streams of random numbers that do not depend on each other.
  const uint64_t of_length = mix(seed), of_column = mix(seed + 1), of_value = mix(seed + 2);
  Csr csr;
  csr.row_ptr.reserve(static_cast<size_t>(rows) + 1);
  csr.row_ptr.push_back(0);
  int64_t total = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const uint64_t bits = random_bits(of_length, static_cast<uint64_t>(row));
    int64_t length = mean;
    if (lengths == RowLengths::kUneven) {
      const uint64_t kind = bits % 64;
      length = kind < 8    ? 0
               : kind == 8 ? 16 * mean
                           : static_cast<int64_t>((bits >> 8) % static_cast<uint64_t>(2 * mean + 1));
    }
    length = std::min(length, cols);
    total += length;
    if (total > std::numeric_limits<int32_t>::max())
      throw TooLarge("more than 2^31 - 1 numbers in the matrix");
    csr.row_ptr.push_back(static_cast<int32_t>(total));
    for (int64_t i = 0; i < length; ++i) {  // one in each of `length` equal ranges of columns
      const int64_t first = i * cols / length, next = (i + 1) * cols / length;
      csr.columns.push_back(static_cast<int32_t>(
          uniform_integer(of_column, static_cast<uint64_t>(total - length + i), first, next)));
    }
  }
  csr.values.resize(csr.columns.size());
  for (size_t i = 0; i < csr.values.size(); ++i) csr.values[i] = static_cast<double>(normal(of_value, i));
  return csr;
}

PageTable random_pages(uint64_t seed, int64_t sequences, int64_t longest, int64_t page_size) {
  require(sequences > 0 && longest > 0 && page_size > 0, "random_pages: all of them are positive, not",
          sequences);
  std::vector<int32_t> lengths;
  for (int64_t i = 0; i < sequences; ++i) {
    lengths.push_back(static_cast<int32_t>(
        i == 0   ? longest
        : i == 1 ? 1
                 : uniform_integer(mix(seed), static_cast<uint64_t>(i), 1, longest + 1)));
  }
  return random_pages(seed, lengths, ceil_div(longest, page_size), page_size);
}

PageTable random_pages(uint64_t seed, const std::vector<int32_t>& lengths, int64_t most_pages,
                       int64_t page_size) {
  PageTable table;
  table.lengths = lengths;
  table.most_pages = most_pages;
  for (const int32_t length : lengths) {
    require(length >= 0 && ceil_div(int64_t{length}, page_size) <= most_pages,
            "random_pages: a length is from 0 to most_pages * page_size, not", length);
    table.count += ceil_div(int64_t{length}, page_size);
    if (table.count > std::numeric_limits<int32_t>::max()) throw TooLarge("more than 2^31 - 1 pages");
  }
  std::vector<int32_t> free(static_cast<size_t>(table.count));
  for (size_t i = 0; i < free.size(); ++i) free[i] = static_cast<int32_t>(i);
  for (size_t i = free.size(); i-- > 1;)  // Fisher and Yates
    std::swap(free[i],
              free[static_cast<size_t>(uniform_integer(mix(seed + 1), i, 0, static_cast<int64_t>(i) + 1))]);
  table.pages.assign(lengths.size() * static_cast<size_t>(most_pages), -1);
  size_t next = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const int64_t pages = ceil_div(int64_t{lengths[i]}, page_size);
    for (int64_t page = 0; page < pages; ++page)
      table.pages[i * static_cast<size_t>(most_pages) + static_cast<size_t>(page)] = free[next++];
  }
  return table;
}

Tokens random_tokens(uint64_t seed, int64_t count, int64_t vocab, double exponent) {
  require(count > 0 && vocab > 0, "random_tokens: count and vocab are positive, not", count, "and", vocab);
  require(vocab <= std::numeric_limits<int32_t>::max(), "random_tokens: a word has 31 bits, vocab is", vocab);
  std::vector<double> up_to(
      static_cast<size_t>(vocab));  // probabilities, added up, not yet divided by their sum
  double sum = 0;
  for (size_t v = 0; v < up_to.size(); ++v) up_to[v] = sum += std::pow(static_cast<double>(v + 1), -exponent);
  Tokens made;
  std::vector<bool> occurs(up_to.size());
  made.tokens.resize(static_cast<size_t>(count));
  for (size_t i = 0; i < made.tokens.size(); ++i) {
    const double at = std::ldexp(static_cast<double>(random_bits(mix(seed), i) >> 11), -53) * sum;
    const auto found =
        std::upper_bound(up_to.begin(), up_to.end() - 1, at);  // the last word, whatever is rounded
    const auto word = static_cast<size_t>(found - up_to.begin());
    made.tokens[i] = static_cast<int32_t>(word);
    made.distinct += !occurs[word];
    occurs[word] = true;
  }
  return made;
}

}  // namespace days
