// SPDX-License-Identifier: MIT
//
// cuBLASLt: of the sixteen kernels that it proposes for a problem, the fastest, found before anything is timed.
#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "common/check.h"
#include "common/ladder.h"
#include "day67_hopper_matmul/matmul.h"
#include "day67_hopper_matmul/other_types.h"

namespace day67 {
namespace {

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + cublasLtGetStatusString(status));
}

// What a call wants beside the pointers, which may be others.
struct Plan {
  static constexpr size_t kWorkspace = size_t{32} << 20;
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t product = nullptr;
  std::array<cublasLtMatrixLayout_t, 3> matrices{};  // b, a, c as columns
  cublasLtMatmulAlgo_t algorithm{};
  void* workspace = nullptr;

  // Row-major c = a * b is, by columns, c^T = b^T * a^T. by_columns: b lies so, which is what 8-bit floats are taken in; `fast`: sums stay
  // in the tensor cores.
  Plan(int m, int n, int k, cudaDataType type, cudaDataType type_of_c, bool by_columns, bool fast) {
    check(cublasLtCreate(&handle), "cublasLtCreate");
    check(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescCreate");
    const auto set = [&](cublasLtMatmulDescAttributes_t what, auto value) {
      check(cublasLtMatmulDescSetAttribute(product, what, &value, sizeof value),
            "cublasLtMatmulDescSetAttribute");
    };
    if (by_columns) set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    if (fast) set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, int8_t{1});
    const std::array<std::array<int, 2>, 3> sizes = {
        {{by_columns ? k : n, by_columns ? n : k}, {k, m}, {n, m}}};
    for (size_t i = 0; i < 3; ++i)
      check(cublasLtMatrixLayoutCreate(&matrices[i], i == 2 ? type_of_c : type, sizes[i][0], sizes[i][1],
                                       sizes[i][0]),
            "cublasLtMatrixLayoutCreate");
    CUDA_CHECK(cudaMalloc(&workspace, kWorkspace));
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    static_cast<void>(cudaFree(workspace));
    for (cublasLtMatrixLayout_t matrix : matrices) cublasLtMatrixLayoutDestroy(matrix);
    cublasLtMatmulDescDestroy(product);
    cublasLtDestroy(handle);
  }
  void run(const cublasLtMatmulAlgo_t& with, const void* a, const void* b, void* c,
           cudaStream_t stream) const {
    const float one = 1, zero = 0;
    check(cublasLtMatmul(handle, product, &one, b, matrices[0], a, matrices[1], &zero, c, matrices[2], c,
                         matrices[2], &with, workspace, kWorkspace, stream),
          "cublasLtMatmul");
  }
};

// The largest power of two, up to cuBLASLt's own 256, that the address is a multiple of.
uint32_t alignment_of(const void* p) {
  const auto address = reinterpret_cast<uintptr_t>(p) | 256;
  return static_cast<uint32_t>(address & (~address + 1));
}

// Milliseconds of one launch.
float time_of(const Plan& plan, const cublasLtMatmulAlgo_t& algorithm, const void* a, const void* b, void* c,
              cudaStream_t stream) {
  cudaEvent_t begin, end;
  CUDA_CHECK(cudaEventCreate(&begin));
  CUDA_CHECK(cudaEventCreate(&end));
  CUDA_CHECK(cudaEventRecord(begin, stream));
  plan.run(algorithm, a, b, c, stream);
  CUDA_CHECK(cudaEventRecord(end, stream));
  CUDA_CHECK(cudaEventSynchronize(end));
  float milliseconds = 0;
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
  CUDA_CHECK(cudaEventDestroy(begin));
  CUDA_CHECK(cudaEventDestroy(end));
  return milliseconds;
}

// Gives the plan the fastest of the kernels that are proposed for it.
template <class Problem>
std::shared_ptr<Plan> choose(std::shared_ptr<Plan> plan, const Problem& p, cudaStream_t stream) {
  cublasLtMatmulPreference_t preference;
  check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t what, auto value) {
    check(cublasLtMatmulPreferenceSetAttribute(preference, what, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, Plan::kWorkspace);
  // Else it proposes kernels that want all addresses to be multiples of 256. Its a is our b.
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(p.b));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(p.a));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(p.c));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(p.c));
  // Parts of k are added as floats, and not as halves.
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
  std::array<cublasLtMatmulHeuristicResult_t, 16> proposed{};
  int count = 0;
  check(cublasLtMatmulAlgoGetHeuristic(plan->handle, plan->product, plan->matrices[0], plan->matrices[1],
                                       plan->matrices[2], plan->matrices[2], preference,
                                       static_cast<int>(proposed.size()), proposed.data(), &count),
        "cublasLtMatmulAlgoGetHeuristic");
  cublasLtMatmulPreferenceDestroy(preference);
  if (count == 0) throw std::runtime_error("cuBLASLt proposes no kernel for this product");
  void* c = nullptr;  // the ladder's own is written by what is timed alone
  CUDA_CHECK(cudaMalloc(&c, sizeof *p.c * static_cast<size_t>(p.m) * static_cast<size_t>(p.n)));
  // All take turns, so that each meets the card as warm as the others do; the median decides.
  constexpr size_t kRounds = 9, kWarmUp = 2;
  std::array<std::array<float, kRounds>, 16> taken{};
  for (size_t round = 0; round < kWarmUp + kRounds; ++round) {
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      const float milliseconds = time_of(*plan, proposed[i].algo, p.a, p.b, c, stream);
      if (round >= kWarmUp) taken[i][round - kWarmUp] = milliseconds;
    }
  }
  float best = std::numeric_limits<float>::max();
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    std::nth_element(taken[i].begin(), taken[i].begin() + kRounds / 2, taken[i].end());
    if (taken[i][kRounds / 2] < best) plan->algorithm = proposed[i].algo;
    best = std::min(best, taken[i][kRounds / 2]);
  }
  CUDA_CHECK(cudaFree(c));
  return plan;
}

template <class T>
requires Half<T> std::shared_ptr<Plan> set_up(const Product<T>& p, cudaStream_t stream) {
  constexpr cudaDataType kType = std::is_same_v<T, days::half> ? CUDA_R_16F : CUDA_R_16BF;
  return choose(std::make_shared<Plan>(p.m, p.n, p.k, kType, kType, false, false), p, stream);
}
// It has no product of two matrices of e5m2.
template <bool kFast>
std::shared_ptr<Plan> set_up_bytes(const ByteMatmul<days::fp8_e4m3>& p, cudaStream_t stream) {
  return choose(std::make_shared<Plan>(p.m, p.n, p.k, CUDA_R_8F_E4M3, CUDA_R_16BF, true, kFast), p, stream);
}

template <class Problem>
void best_of_sixteen(const Problem& p, cudaStream_t stream) {
  const auto& plan = p.setup.template get<std::shared_ptr<Plan>>("cuBLASLt");
  plan->run(plan->algorithm, p.a, p.b, p.c, stream);
}
template <class T>
requires Half<T>
void best_of_halves(const Product<T>& p, cudaStream_t stream) {
  best_of_sixteen(p, stream);
}
void best_of_bytes(const ByteMatmul<days::fp8_e4m3>& p, cudaStream_t stream) {
  best_of_sixteen(p, stream);
}

REGISTER_BASELINE(Product, "half", "cuBLASLt", LAUNCHER(best_of_halves));
REGISTER_BASELINE_SETUP(Product, "half", "cuBLASLt", LAUNCHER(set_up));
REGISTER_BASELINE(ByteMatmul, "fp8", "cuBLASLt", LAUNCHER(best_of_bytes), days::fp8_e4m3);
REGISTER_BASELINE_SETUP(ByteMatmul, "fp8", "cuBLASLt", LAUNCHER(set_up_bytes<false>), days::fp8_e4m3);
REGISTER_BASELINE(ByteMatmul, "fp8", "cuBLASLt fast", LAUNCHER(best_of_bytes), days::fp8_e4m3);
REGISTER_BASELINE_SETUP(ByteMatmul, "fp8", "cuBLASLt fast", LAUNCHER(set_up_bytes<true>), days::fp8_e4m3);

}  // namespace
}  // namespace day67
