// SPDX-License-Identifier: MIT
//
// A block's matrix products of warpgroups (warpgroups.cpp).
#pragma once

#include <deque>
#include <vector>

#include "async.h"
#include "simt/warpgroups.h"

namespace simt {

// Made when a warp first asks for one.
struct WarpgroupProducts {
  // What a warp adds up: 16 x n, row by row, while a product is pending; and what the lanes' registers got back last.
  struct Sums {
    void* d[32];  // the lanes' registers
    int n;
    bool integers;
    int pending = 0;  // products
    std::vector<std::uint32_t> values;
  };
  struct Product {
    WgmmaShape shape;
    std::uint64_t a, b;  // descriptors
    bool add, from_registers;
    std::vector<std::uint32_t> registers;  // a's, four of each lane
    Sums* sums;
  };
  struct OfWarp {
    bool fenced = false;      // since the last wait
    std::uint64_t asked = 0;  // products
    void* caller = nullptr;   // of the last, and
    Site site;                // where it stands
    std::deque<Sums> sums;
    std::vector<Product> open;  // not committed yet
    std::deque<std::vector<Product>> groups;
  };
  std::vector<OfWarp> warps;
  // Checked builds: of each 16 bytes of the arena, how many products have yet to read them, and who asked for the last.
  struct Readers {
    std::uint32_t count;
    void* caller;
  };
  std::vector<Readers> readers;
};

void finish_block_products(Block& block);  // the block has ended
void forget_block_products(Block& block);
void* product_that_reads(const Block& block, const char* p,
                         std::size_t bytes);  // who asked for it; null: none

}  // namespace simt
