// SPDX-License-Identifier: MIT
//
// Inputs that are made as a whole, from a seed (Inputs::structure): their arrays belong together, so no array can be
// filled by itself.
#pragma once

#include <cstdint>
#include <vector>

namespace days {

// A sparse matrix in compressed rows: row r has the columns columns[row_ptr[r]] to columns[row_ptr[r + 1] - 1], in
// ascending order, each once, with values beside them.
struct Csr {
  std::vector<int32_t> row_ptr;  // (rows + 1)
  std::vector<int32_t> columns;  // (nonzeros)
  std::vector<double> values;    // (nonzeros), N(0, 1)
};

// How long the rows are. kEven: all of them the mean. kUneven: a row in eight is empty, one in 64 has sixteen times the
// mean, and the others anything up to twice it, as in the matrix of a graph. No row is longer than there are columns.
enum class RowLengths { kEven, kUneven };

// `mean` numbers in a row, about. Throws TooLarge beyond 2^31 - 1 numbers.
Csr random_csr(uint64_t seed, int64_t rows, int64_t cols, int64_t mean,
               RowLengths lengths = RowLengths::kEven);

// A cache of keys and values in pages that sequences have in any order, as they come to be free.
struct PageTable {
  std::vector<int32_t> lengths;  // (sequences): tokens, from 1 to the longest
  std::vector<int32_t>
      pages;  // (sequences, most pages): each page of all belongs to one; -1 after a sequence's last
  int64_t most_pages = 0;  // of a sequence of the longest
  int64_t count = 0;       // pages in all
};

// The first sequence is the longest, the second has one token. Throws TooLarge beyond 2^31 - 1 pages.
PageTable random_pages(uint64_t seed, int64_t sequences, int64_t longest, int64_t page_size);
// The same for sequences of these lengths, each at most most_pages * page_size; one of length 0 has no page.
PageTable random_pages(uint64_t seed, const std::vector<int32_t>& lengths, int64_t most_pages,
                       int64_t page_size);

// Words of a text as numbers: word v with a probability as (v + 1)^-exponent has it. 1 is Zipf's law, about that of language; 0
// makes all words equal.
struct Tokens {
  std::vector<int32_t> tokens;  // (count), from 0 to vocab - 1
  int64_t distinct = 0;         // words that occur
};

Tokens random_tokens(uint64_t seed, int64_t count, int64_t vocab, double exponent);

}  // namespace days
