// SPDX-License-Identifier: MIT
// All tensors in one launch. The kernel's parameter is a table with the number of each tensor's first block, and a block finds its
// tensor by halving: eight looks for 148 tensors, all threads at the same word, which the constant cache serves at once.
// Changed since vectors: one launch for all; loads and stores say that nobody wants the data soon; a tensor that is not aligned goes
// one by one.
// Bound by: memory, 16 bytes read and 12 written for each weight.
#include "day53_adam/adam.h"
#include "day53_adam/table.cuh"
#include "day53_adam/update.cuh"

namespace day53 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) table_kernel(const __grid_constant__ Table<AdamTensor<T>> table,
                                                         const Betas betas, const AdamRates rates) {
  int first = 0, last = table.count - 1;  // the block's tensor is one of these
  while (first < last) {
    const int middle = (first + last + 1) / 2;
    if (table.begins[middle] <= blockIdx.x) {
      first = middle;
    } else {
      last = middle - 1;
    }
  }
  update_chunk(table.tensors[first], blockIdx.x - table.begins[first], betas, rates);
}

}  // namespace

template <class T>
void adam_table(const Adam<T>& p, cudaStream_t stream) {
  require_problem(p, "table");
  const AdamRates rates = adam_rates(p.rule, p.lr, p.t);
  for_each_table(p.tensors, kChunk, "table", [&](const Table<AdamTensor<T>>& table, unsigned blocks) {
    table_kernel<<<blocks, kThreads, 0, stream>>>(table, Betas(p.rule), rates);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(adam_table, Adam, float);

}  // namespace day53
