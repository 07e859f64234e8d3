// SPDX-License-Identifier: MIT
//
// A row's loss and gradient need that row alone, so some rows at a time do: their logits live for three products and make room for the
// next rows'. dw is a sum over all rows, and each slice adds to it, in fp32: in 16 bits what a slice adds would round away.
// Changed since stored: a quarter of the workspace, or less; dw is read and written once a slice.
// Bound by: tensor cores, and dw's trips.
#include <algorithm>

#include "day74_cross_entropy/linear.h"

namespace day74 {
namespace {

template <class T>
void slice_by_slice(const LinearCrossEntropy<T>& p, cudaStream_t stream) {
  const int slice = slice_of(p);
  for (int first = 0; first < p.rows; first += slice) {
    const int count = std::min(slice, p.rows - first);
    multiply(p, slice, logits_of(p, first, count), stream);
    loss_and_gradient(cross_entropy_of(p, first, count), stream);
    multiply(p, slice, dx_of(p, first, count), stream);
    multiply(p, slice, dw_of(p, first, count), stream);
  }
}

}  // namespace

template <class T>
void linear_slices(const LinearCrossEntropy<T>& p, cudaStream_t stream) {
  require_problem(p, slices_workspace, "slices");
  slice_by_slice(p, stream);
}

INSTANTIATE_LAUNCHER(linear_slices, LinearCrossEntropy, float, days::half, days::bf16);

}  // namespace day74
