// SPDX-License-Identifier: MIT
//
// One matrix product for whoever trains or serves a model: c = epilogue(alpha * op(a) * op(b)), or that added to c, row-major, of one
// problem or a batch of them. It runs on the fastest kernel that the device, the types and the addresses allow.
//
//   model::Product<bf16> p{.a = {x, width}, .b = {w, inner}, .c = {y, inner}, .m = tokens, .n = inner, .k = width};
//   p.epilogue = model::Epilogue::kBiasGelu, p.bias = bias, p.kept = {before, inner};
//   p.workspace = {memory, bytes};  // at least model::workspace_of(p), which may be 0
//   model::multiply(p, stream);
//
// Nothing is allocated, nothing waits, and a launch can be captured into a CUDA graph. The same problem on the same device gives the same
// bits in every run. All pointers are the device's and belong to the caller; no output may overlap an input but where it says so.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/problems/gemm.h"
#include "common/types.h"
#include "common/workspace.h"

namespace model {

using days::bf16;
using days::half;
using days::Op;

// A row-major matrix for each problem of a batch, counted in elements: rows begin `pitch` apart, at least their length, and a problem's
// matrix begins `stride` behind the last one's. What lies between rows is never touched.
template <class T>
struct Matrix {
  T* data = nullptr;
  int64_t pitch = 0;
  int64_t stride = 0;  // 0 for an input: all problems share it
};

// What becomes of x = alpha * (op(a) * op(b)), in fp32, before it is rounded to c's type, once. With `adds`, the result of any of them is
// added to c; what kBiasGelu writes to `kept` is not added to it.
enum class Epilogue : int {
  kNone,
  kBias,  // x + bias
  kBiasGelu,  // gelu(z) of z = x + bias rounded to the inputs' type, by tanh; z goes to `kept`, where that is not null
  kGeluSlope,     // x * gelu'(kept)
  kResidual,      // x + residual
  kBiasResidual,  // x + bias + residual
};

// The kernels. Each takes every op, batch, epilogue, split, and c wherever it lies; what else it needs stands beside it.
enum class Path : int {
  kAutomatic,  // the last of those below that takes the problem
  kSimple,     // everything, on every device: plain tiles, FFMA
  kFfma,       // float: day 39's blocks
  kMma,  // half and bf16 from sm_80 on, rows and problems of a and b begin at multiples of 16 bytes: day 66's blocks
  // half and bf16 on sm_90 alone, rows and problems of a and b begin at multiples of 16 bytes, pitches are below 2^39: day 67's ring
  kWgmma,
};
inline constexpr Path kLastPath = Path::kWgmma;
const char* name_of(Path);

// In: float, half or bf16. Out: the same, or float. Sums are fp32.
template <class In, class Out = In>
struct Product {
  Matrix<const In> a{};     // kN: (m, k), kT: (k, m)
  Matrix<const In> b{};     // kN: (k, n), kT: (n, k)
  Matrix<Out> c{};          // (m, n)
  int m = 0, n = 0, k = 0;  // any may be 0. Without k the products are 0, and the epilogue is all there is
  Op op_a = Op::kN, op_b = Op::kN;
  int batch = 1;
  float alpha = 1;
  bool adds = false;  // c += the epilogue's result instead of c =, for a c in fp32. Without it c is not read
  Epilogue epilogue = Epilogue::kNone;
  const In* bias = nullptr;      // (n), of all problems
  Matrix<In> kept{};             // (m, n): kBiasGelu writes it, kGeluSlope reads it
  Matrix<const Out> residual{};  // (m, n); may be c itself
  Path path = Path::kAutomatic;
  int split = 0;  // parts of k whose sums are added in their order; 0: as many as the device wants
  days::Workspace workspace{};
};

// What a problem runs on: the compute capability, 90 for 9.0, that both the device and this program's code have; and multiprocessors.
struct Target {
  int sm = 0;
  int multiprocessors = 1;
};
Target target_here();

// What multiply() would do there. Pointers are looked at for their alignment alone, so that a plan can be made before there is memory.
struct Plan {
  Path path = Path::kSimple;
  int split = 1;
  size_t workspace = 0;  // bytes; aligned as cudaMalloc aligns
};

// All three throw std::invalid_argument, which names the value: a negative size, a pitch that is shorter than a row, a stride by which two
// problems' outputs would overlap, `adds` of a c in 16 bits, a path that does not take the problem; multiply() also for a null pointer and
// a short workspace. Defined for <float>, <half>, <bf16>, <half, float> and <bf16, float>.
template <class In, class Out>
Plan plan_of(const Product<In, Out>&, const Target&);
template <class In, class Out>
size_t workspace_of(const Product<In, Out>& p) {
  return plan_of(p, target_here()).workspace;
}
template <class In, class Out>
void multiply(const Product<In, Out>&, cudaStream_t);

}  // namespace model
