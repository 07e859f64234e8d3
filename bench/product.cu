// SPDX-License-Identifier: MIT
//
// The products of a training step of GPT-2 by model/product.h and by cuBLASLt with the same epilogues, in turns. cuBLASLt's is the fastest of
// the sixteen kernels that it proposes.
//
//   cmake --preset cuda && cmake --build --preset cuda --target product_bench && build/cuda/bin/product_bench
//
// --tokens N (65536): rows of an activation. --only NAME: one product. --path NAME: simple, mma or wgmma instead of the best.
#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/check.h"
#include "common/device.h"
#include "common/harness.h"
#include "common/timing.h"
#include "model/product.h"

namespace {

using days::bf16;
using days::DeviceBuffer;
using days::Op;
using model::Epilogue;

// Of GPT-2 with 12 layers of 768 and a vocabulary that is padded to 50,304. 0 stands for the number of tokens.
struct Shape {
  const char* name;
  int m, n, k;
  Op op_a, op_b;
  Epilogue epilogue;
  bool gradient_of_weights;  // added to fp32
};
constexpr Shape kShapes[] = {
    {"qkv", 0, 2304, 768, Op::kN, Op::kN, Epilogue::kBias, false},
    {"attention", 0, 768, 768, Op::kN, Op::kN, Epilogue::kBiasResidual, false},
    {"fc", 0, 3072, 768, Op::kN, Op::kN, Epilogue::kBiasGelu, false},
    {"proj", 0, 768, 3072, Op::kN, Op::kN, Epilogue::kBiasResidual, false},
    {"logits", 0, 50304, 768, Op::kN, Op::kT, Epilogue::kNone, false},
    {"d_logits", 0, 768, 50304, Op::kN, Op::kN, Epilogue::kNone, false},
    {"d_proj", 0, 3072, 768, Op::kN, Op::kT, Epilogue::kGeluSlope, false},
    {"d_fc", 0, 768, 3072, Op::kN, Op::kT, Epilogue::kNone, false},
    {"d_attention", 0, 768, 768, Op::kN, Op::kT, Epilogue::kNone, false},
    {"d_qkv", 0, 768, 2304, Op::kN, Op::kT, Epilogue::kNone, false},
    {"w_qkv", 768, 2304, 0, Op::kT, Op::kN, Epilogue::kNone, true},
    {"w_attention", 768, 768, 0, Op::kT, Op::kN, Epilogue::kNone, true},
    {"w_fc", 768, 3072, 0, Op::kT, Op::kN, Epilogue::kNone, true},
    {"w_proj", 3072, 768, 0, Op::kT, Op::kN, Epilogue::kNone, true},
    {"w_embedding", 50304, 768, 0, Op::kT, Op::kN, Epilogue::kNone, true},
};

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + cublasLtGetStatusString(status));
}

// The same problem for cuBLASLt. It counts by columns: row-major c = a * b is, by columns, c^T = b^T * a^T, and c^T's rows, which it has a
// bias for, are our columns.
template <class Out>
class Library {
 public:
  explicit Library(const model::Product<bf16, Out>& p) : p_(p), workspace_(size_t{64} << 20) {
    constexpr cudaDataType kOut = sizeof(Out) == 4 ? CUDA_R_32F : CUDA_R_16BF;
    check(cublasLtCreate(&handle_), "cublasLtCreate");
    check(cublasLtMatmulDescCreate(&product_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescCreate");
    set(CUBLASLT_MATMUL_DESC_TRANSA, p.op_b == Op::kT ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, p.op_a == Op::kT ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (p.epilogue == Epilogue::kBias || p.epilogue == Epilogue::kBiasResidual)
      set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    if (p.epilogue == Epilogue::kBiasGelu)
      set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
    if (p.epilogue == Epilogue::kGeluSlope) set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DGELU);
    if (p.bias != nullptr) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias);
    if (p.kept.data != nullptr) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, p.kept.data);
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, p.kept.pitch);
    }
    const int64_t m = p.m, n = p.n, k = p.k;
    const bool a = p.op_a == Op::kN, b = p.op_b == Op::kN;
    layout(0, CUDA_R_16BF, b ? n : k, b ? k : n, p.b.pitch);
    layout(1, CUDA_R_16BF, a ? k : m, a ? m : k, p.a.pitch);
    layout(2, kOut, n, m, p.c.pitch);
    choose();
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    for (cublasLtMatrixLayout_t matrix : matrices_) cublasLtMatrixLayoutDestroy(matrix);
    cublasLtMatmulDescDestroy(product_);
    cublasLtDestroy(handle_);
  }
  void run(cudaStream_t stream) const { run(best_, stream); }

 private:
  template <class Value>
  void set(cublasLtMatmulDescAttributes_t what, const Value& value) {
    check(cublasLtMatmulDescSetAttribute(product_, what, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  }
  void layout(size_t i, cudaDataType type, int64_t rows, int64_t cols, int64_t pitch) {
    check(cublasLtMatrixLayoutCreate(&matrices_[i], type, static_cast<uint64_t>(rows),
                                     static_cast<uint64_t>(cols), pitch),
          "cublasLtMatrixLayoutCreate");
  }
  void run(const cublasLtMatmulAlgo_t& algorithm, cudaStream_t stream) const {
    // A residual is c's old value times 1; what is added to is its own.
    const bool residual = p_.residual.data != nullptr;
    const float one = p_.alpha, beta = residual || p_.adds ? 1.0f : 0.0f;
    const void* const before = residual ? p_.residual.data : p_.c.data;
    check(cublasLtMatmul(handle_, product_, &one, p_.b.data, matrices_[0], p_.a.data, matrices_[1], &beta,
                         before, matrices_[2], p_.c.data, matrices_[2], &algorithm, workspace_.data(),
                         workspace_.bytes(), stream),
          "cublasLtMatmul");
  }
  void choose() {
    cublasLtMatmulPreference_t preference;
    check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
    const size_t bytes = workspace_.bytes();
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                               sizeof bytes),
          "cublasLtMatmulPreferenceSetAttribute");
    std::array<cublasLtMatmulHeuristicResult_t, 16> proposed{};
    int count = 0;
    check(cublasLtMatmulAlgoGetHeuristic(handle_, product_, matrices_[0], matrices_[1], matrices_[2],
                                         matrices_[2], preference, static_cast<int>(proposed.size()),
                                         proposed.data(), &count),
          "cublasLtMatmulAlgoGetHeuristic");
    cublasLtMatmulPreferenceDestroy(preference);
    if (count == 0) throw std::runtime_error("cuBLASLt proposes no kernel for this product");
    std::vector<std::function<void(cudaStream_t)>> contestants;
    for (int i = 0; i < count; ++i)
      contestants.push_back([this, algorithm = proposed[static_cast<size_t>(i)].algo](cudaStream_t stream) {
        run(algorithm, stream);
      });
    double least = std::numeric_limits<double>::max();
    const std::vector<days::Timing> timings = days::time_interleaved(contestants, 0);
    for (size_t i = 0; i < timings.size(); ++i) {
      if (timings[i].seconds < least) best_ = proposed[i].algo;
      least = std::min(least, timings[i].seconds);
    }
  }

  const model::Product<bf16, Out> p_;
  days::DeviceMemory workspace_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t product_ = nullptr;
  std::array<cublasLtMatrixLayout_t, 3> matrices_{};  // b, a, c
  cublasLtMatmulAlgo_t best_{};
};

template <class T>
DeviceBuffer<T> random_matrix(int64_t rows, int64_t cols, uint64_t seed, double scale) {
  DeviceBuffer<T> made(static_cast<size_t>(rows * cols));
  days::fill_on_device(made.data(), made.size(), days::Distribution::kNormal, seed, scale, 0, nullptr);
  return made;
}

// |x - y| / |y| over the first elements, of which there are 2^24 at most.
template <class T>
double difference(const DeviceBuffer<T>& x, const DeviceBuffer<T>& y) {
  const size_t count = std::min(x.size(), size_t{1} << 24);
  std::vector<T> left(count), right(count);
  CUDA_CHECK(cudaMemcpy(left.data(), x.data(), count * sizeof(T), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(right.data(), y.data(), count * sizeof(T), cudaMemcpyDeviceToHost));
  double off = 0, size = 0;
  for (size_t i = 0; i < count; ++i) {
    const double want = days::to_double(right[i]);
    off += (days::to_double(left[i]) - want) * (days::to_double(left[i]) - want);
    size += want * want;
  }
  return std::sqrt(off / size);
}

// Prints a line; whether both agree.
template <class Out>
bool race(const Shape& shape, int tokens, model::Path path) {
  const auto size = [&](int extent) { return extent == 0 ? tokens : extent; };
  const int m = size(shape.m), n = size(shape.n), k = size(shape.k);
  const bool bias = shape.epilogue == Epilogue::kBias || shape.epilogue == Epilogue::kBiasGelu ||
                    shape.epilogue == Epilogue::kBiasResidual;
  const bool kept = shape.epilogue == Epilogue::kBiasGelu || shape.epilogue == Epilogue::kGeluSlope;
  const bool residual = shape.epilogue == Epilogue::kBiasResidual;
  const auto a = random_matrix<bf16>(m, k, 1, 1), b = random_matrix<bf16>(k, n, 2, 1 / std::sqrt(k));
  const auto biases = random_matrix<bf16>(1, bias ? n : 0, 3, 1);
  const auto keep = random_matrix<bf16>(kept ? m : 0, n, 4, 1);
  const auto other = random_matrix<Out>(residual ? m : 0, n, 5, 1);
  const auto ours = random_matrix<Out>(m, n, 6, 1), theirs = random_matrix<Out>(m, n, 6, 1);
  model::Product<bf16, Out> p{.a = {a.data(), shape.op_a == Op::kN ? k : m},
                              .b = {b.data(), shape.op_b == Op::kN ? n : k},
                              .c = {ours.data(), n},
                              .m = m,
                              .n = n,
                              .k = k,
                              .op_a = shape.op_a,
                              .op_b = shape.op_b};
  p.epilogue = shape.epilogue, p.adds = shape.gradient_of_weights, p.path = path;
  if (bias) p.bias = biases.data();
  if (kept) p.kept = {keep.data(), n};
  if (residual) p.residual = {other.data(), n};
  const model::Plan plan = model::plan_of(p, model::target_here());
  const days::DeviceMemory workspace(plan.workspace);
  p.workspace = {workspace.data(), workspace.bytes()};

  auto q = p;
  q.c.data = theirs.data();
  const Library<Out> library(q);
  days::fill_on_device(theirs.data(), theirs.size(), days::Distribution::kNormal, 6, 1, 0, nullptr);
  model::multiply(p, nullptr);
  library.run(nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
  const double off = difference(ours, theirs);
  const bool agree = off < 1e-2;  // bf16 that is rounded twice
  const std::vector<days::Timing> times =
      days::time_interleaved({[&](cudaStream_t stream) { model::multiply(p, stream); },
                              [&](cudaStream_t stream) { library.run(stream); }},
                             0.5);
  const double flops = 2.0 * m * n * k;
  std::printf("%-12s %5d %5d %5d  %c%c %-6s %2d %8.1f %6.1f %8.1f %6.1f  %5.2f%s\n", shape.name, m, n, k,
              shape.op_a == Op::kN ? 'N' : 'T', shape.op_b == Op::kN ? 'N' : 'T', model::name_of(plan.path),
              plan.split, 1e6 * times[0].seconds, 1e-12 * flops / times[0].seconds, 1e6 * times[1].seconds,
              1e-12 * flops / times[1].seconds, times[1].seconds / times[0].seconds, agree ? "" : "  DIFFER");
  return agree;
}

int run(int argc, char** argv) {
  int tokens = 65536;
  std::string only;
  model::Path path = model::Path::kAutomatic;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const char* const value = i + 1 < argc ? argv[++i] : nullptr;
    days::require(flag == "--tokens" || flag == "--only" || flag == "--path",
                  "product_bench: there is no flag ", flag, "; --tokens, --only and --path are");
    days::require(value != nullptr, "product_bench: ", flag, " wants a value");
    if (flag == "--only") only = value;
    if (flag == "--tokens") {
      char* end = nullptr;
      const long number = std::strtol(value, &end, 10);
      days::require(*end == 0 && number > 0 && number <= 1 << 20 && number % 8 == 0,
                    "product_bench: --tokens is a multiple of 8 up to 1048576, not ", value);
      tokens = static_cast<int>(number);
    }
    if (flag == "--path") {
      while (path != model::kLastPath && std::strcmp(model::name_of(path), value) != 0)
        path = static_cast<model::Path>(static_cast<int>(path) + 1);
      days::require(std::strcmp(model::name_of(path), value) == 0, "product_bench: there is no path ", value);
    }
  }
  std::printf("%-12s %5s %5s %5s  %2s %-6s %2s %8s %6s %8s %6s  %5s\n", days::current_device().name.c_str(),
              "m", "n", "k", "op", "path", "/k", "us", "TFLOPs", "Lt us", "TFLOPs", "ratio");
  bool agree = true, any = false;
  for (const Shape& shape : kShapes) {
    if (!only.empty() && only != shape.name) continue;
    any = true;
    agree &= shape.gradient_of_weights ? race<float>(shape, tokens, path) : race<bf16>(shape, tokens, path);
  }
  days::require(any, "product_bench: there is no product ", only);
  return agree ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
