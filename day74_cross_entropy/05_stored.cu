// SPDX-License-Identifier: MIT
//
// The logits as a whole: a product makes them, the first ladder's kernel writes their gradient over them, and two products take it to x and
// to w.
// Bound by: tensor cores, in three products. Its price is memory: all logits, 824 MB for 8,192 tokens of GPT-2's vocabulary.
#include "day74_cross_entropy/linear.h"

namespace day74 {
namespace {

template <class T>
void all_rows(const LinearCrossEntropy<T>& p, cudaStream_t stream) {
  multiply(p, p.rows, logits_of(p, 0, p.rows), stream);
  loss_and_gradient(cross_entropy_of(p, 0, p.rows), stream);
  multiply(p, p.rows, dx_of(p, 0, p.rows), stream);
  multiply(p, p.rows, dw_of(p, 0, p.rows), stream);
}

}  // namespace

template <class T>
void linear_stored(const LinearCrossEntropy<T>& p, cudaStream_t stream) {
  require_problem(p, stored_workspace, "stored");
  all_rows(p, stream);
}

INSTANTIATE_LAUNCHER(linear_stored, LinearCrossEntropy, float, days::half, days::bf16);

}  // namespace day74
