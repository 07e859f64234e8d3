// SPDX-License-Identifier: MIT
// CUB's histogram, stable compaction and radix sort.
#include <cub/cub.cuh>

#include "common/check.h"
#include "common/ladder.h"
#include "day62_histogram_and_sort/compaction.h"
#include "day62_histogram_and_sort/histogram.h"
#include "day62_histogram_and_sort/radix_sort.h"

namespace day62 {
namespace {

struct Above {
  float threshold;
  __device__ bool operator()(float x) const { return x > threshold; }
};

// call(memory, bytes) is one of CUB's functions: without memory it says how many bytes it needs, which are
// fewer than `promised`.
template <class Call>
void run_in(const days::Workspace& workspace, size_t promised, const Call& call) {
  days::require(workspace.bytes >= promised, "CUB: needs a workspace of", promised, " bytes, not",
                workspace.bytes);
  size_t bytes = 0;
  CUDA_CHECK(call(nullptr, bytes));
  days::require(promised >= bytes, "CUB: this version needs a workspace of", bytes, " bytes, not", promised);
  CUDA_CHECK(call(workspace.data, bytes));
}

}  // namespace

void histogram_cub(const Histogram<uint8_t>& p, cudaStream_t stream) {
  require_problem(p, "CUB");
  run_in(p.workspace, histogram_cub_workspace(p), [&](void* memory, size_t& bytes) {
    return cub::DeviceHistogram::HistogramEven(memory, bytes, p.keys, p.counts, kBins + 1, 0, kBins, p.n,
                                               stream);
  });
}

void compaction_cub(const Compaction<float>& p, cudaStream_t stream) {
  require_problem(p, "CUB");
  run_in(p.workspace, compaction_cub_workspace(p), [&](void* memory, size_t& bytes) {
    return cub::DeviceSelect::If(memory, bytes, p.x, p.y, p.count, p.n, Above{p.threshold}, stream);
  });
}

void radix_sort_cub(const RadixSort<uint32_t>& p, cudaStream_t stream) {
  require_problem(p, radix_sort_cub_workspace(p), "CUB");
  run_in(p.workspace, radix_sort_cub_workspace(p), [&](void* memory, size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(memory, bytes, p.in, p.out, p.n, 0, 32, stream);
  });
}

REGISTER_BASELINE(Histogram, "histogram", "CUB", LAUNCHER(histogram_cub));
REGISTER_BASELINE(Compaction, "compaction_stable", "CUB", LAUNCHER(compaction_cub));
REGISTER_BASELINE(RadixSort, "radix_sort", "CUB", LAUNCHER(radix_sort_cub));

}  // namespace day62
