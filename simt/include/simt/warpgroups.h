// SPDX-License-Identifier: MIT
//
// Matrix products of a warpgroup: wgmma, which common/ptx/wgmma.h is built on.
//
// A product runs as late as it may: it reads a and b at its warp's wait, and until then the accumulators are the product's and hold NaN. So
// who writes over an operand too early, or reads a sum too early, gets it wrong here each time. Sums are exact in double precision, and
// rounded once an instruction; with SIMT_FP8_SUMS=13 those of 8-bit floats keep 13 bits behind the first of the largest summand.
#pragma once

#include "simt/tensor_cores.h"

namespace simt {

struct WgmmaShape {
  int n;  // of 64 x n
  MatrixType a, b;
  bool a_by_rows,
      b_by_rows;  // what lies side by side are rows of a, columns of b, and not neighbours along k
};

// wgmma.mma_async.sync.aligned: d = a * b + d, or a * b without `add`, by all lanes of a warp, which computes its 16 rows. d: n / 2
// floats, of integer types as many int32_t; a_registers: four of them, or null, then `a` is a's descriptor.
void wgmma(const WgmmaShape& shape, void* d, const std::uint32_t* a_registers, std::uint64_t a,
           std::uint64_t b, bool add, Site site);
void wgmma_fence(Site site);
void wgmma_commit_group(Site site);
void wgmma_wait_group(int left, Site site);

}  // namespace simt
