// SPDX-License-Identifier: MIT
//
// What stands before the product's kernels: whether a problem is one, which kernel takes it, in how many parts k is taken.

#include "model/product.h"

#include <algorithm>
#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "model/epilogue.cuh"

namespace model {
namespace {

constexpr const char* kWho = "multiply";

template <class In, class Out>
bool has_kept(const Product<In, Out>& p) {
  return p.epilogue == Epilogue::kGeluSlope || (p.epilogue == Epilogue::kBiasGelu && p.kept.data != nullptr);
}

template <class T>
void require_matrix(const Matrix<T>& matrix, const char* name, int64_t length) {
  constexpr int64_t kMost = int64_t{1} << 40;
  days::require(matrix.pitch >= length, kWho, ": the pitch of ", name, " is at least a row's", length,
                ", not", matrix.pitch);
  days::require(matrix.pitch <= kMost, kWho, ": the pitch of ", name, " is at most 2^40, not", matrix.pitch);
  days::require(matrix.stride >= 0 && matrix.stride <= kMost, kWho, ": the stride of ", name,
                " is 0 to 2^40, not", matrix.stride);
}

// Problems of a batch write to places of their own where one lies behind the other, or beside it within the rows.
template <class T, class P>
void require_apart(const Matrix<T>& matrix, const char* name, const P& p) {
  if (p.batch < 2) return;
  const int64_t stride = matrix.stride, pitch = matrix.pitch;
  const bool behind = stride >= p.n && (stride - p.n) / pitch >= p.m - 1;
  const bool beside = stride >= p.n && (pitch - p.n) / stride >= p.batch - 1;
  days::require(behind || beside, kWho, ": problems of the batch overlap in ", name, ": its stride is",
                stride);
}

template <class In, class Out>
void require_problem(const Product<In, Out>& p) {
  days::require(p.m >= 0, kWho, ": m must not be negative:", p.m);
  days::require(p.n >= 0, kWho, ": n must not be negative:", p.n);
  days::require(p.k >= 0, kWho, ": k must not be negative:", p.k);
  days::require(p.batch >= 0, kWho, ": batch must not be negative:", p.batch);
  days::require(p.split >= 0, kWho, ": split must not be negative:", p.split);
  days::require(p.epilogue >= Epilogue::kNone && p.epilogue <= Epilogue::kBiasResidual, kWho,
                ": there is no epilogue", static_cast<int>(p.epilogue));
  days::require(p.path >= Path::kAutomatic && p.path <= kLastPath, kWho, ": there is no path",
                static_cast<int>(p.path));
  const Op ops[] = {p.op_a, p.op_b};  // nvcc's front end loses a list that stands in a template's loop
  for (const Op op : ops)
    days::require(op == Op::kN || op == Op::kT, kWho, ": there is no op", static_cast<int>(op));
  days::require(!p.adds || sizeof(Out) == 4, kWho, ": adds to a c in fp32 alone; its elements have bytes",
                sizeof(Out));
  if (p.m == 0 || p.n == 0 || p.batch == 0) return;  // nothing is read, and nothing written
  if (p.k > 0) {
    require_matrix(p.a, "a", p.op_a == Op::kN ? p.k : p.m);
    require_matrix(p.b, "b", p.op_b == Op::kN ? p.n : p.k);
  }
  require_matrix(p.c, "c", p.n);
  require_apart(p.c, "c", p);
  if (has_kept(p)) {
    require_matrix(p.kept, "kept", p.n);
    if (p.epilogue == Epilogue::kBiasGelu) require_apart(p.kept, "kept", p);
  }
  if (has_residual(p.epilogue)) require_matrix(p.residual, "residual", p.n);
}

template <class In, class Out>
void require_pointers(const Product<In, Out>& p) {
  const auto given = [](const char* name, const void* pointer) {
    days::require(pointer != nullptr, kWho, ": ", name, " is null");
  };
  const void* const c = p.c.data;
  given("c", c);
  if (p.k > 0) {
    given("a", p.a.data);
    given("b", p.b.data);
    days::require(c != p.a.data && c != p.b.data, kWho, ": c must not be a or b");
  }
  if (has_bias(p.epilogue)) given("bias", p.bias);
  if (p.epilogue == Epilogue::kGeluSlope) given("kept", p.kept.data);
  if (has_kept(p))
    days::require(c != p.kept.data || p.epilogue == Epilogue::kGeluSlope, kWho, ": c must not be kept");
  if (has_residual(p.epilogue)) {
    given("residual", p.residual.data);
    days::require(c != p.residual.data || (p.c.pitch == p.residual.pitch && p.c.stride == p.residual.stride),
                  kWho, ": a residual that is c has its pitch and stride, not", p.residual.pitch, " and",
                  p.residual.stride);
  }
}

// What a block of each path makes of c, and about how many microseconds 64 of k take it.
struct Cost {
  int m, n;
  double microseconds;
};
Cost cost_of(Path path) {
  if (path == Path::kFfma) return {128, 256, 11};
  if (path == Path::kMma) return {128, 256, 1.2};
  if (path == Path::kWgmma) return {128, 256, 0.7};
  return {64, 64, 3.5};
}

// Parts of k: those with which it should take least. Where tiles are too few for the device more parts keep it busy; each costs a pass
// over c in fp32, there and back.
template <class In, class Out>
int best_split(const Product<In, Out>& p, Path path, int multiprocessors) {
  constexpr int kMost = 64;
  constexpr double kLaunch = 4, kBytes = 3e6;  // microseconds; bytes a microsecond
  const Cost cost = cost_of(path);
  const double outputs = static_cast<double>(p.m) * p.n * p.batch;
  const int64_t tiles = int64_t{days::ceil_div(p.m, cost.m)} * days::ceil_div(p.n, cost.n) * p.batch;
  const int steps = days::ceil_div(p.k, kDepth);
  int best = 1;
  double least = 0;
  for (int split = 1; split <= std::min(kMost, steps); ++split) {
    const double waves = static_cast<double>(days::ceil_div(tiles * split, int64_t{multiprocessors}));
    double time = waves * (days::ceil_div(steps, split) + 4) * cost.microseconds;
    if (split > 1) time += kLaunch + outputs * (8 * split + 4) / kBytes;
    if (split == 1 || time < least) {
      best = split;
      least = time;
    }
  }
  return best;
}

template <class T>
bool whole_rows(const Matrix<T>& matrix, int batch) {
  constexpr int64_t kEach = 16 / sizeof(T);
  return days::aligned16(matrix.data) && matrix.pitch % kEach == 0 &&
         (batch < 2 || matrix.stride % kEach == 0);
}

// What a path asks of a problem and of the device; `complain(condition, pieces of a message...)` for each.
template <class In, class Out, class Complain>
void ask(const Product<In, Out>& p, Path path, const Target& target, const Complain& complain) {
  constexpr int64_t kMostPitch = int64_t{1} << 39;  // a tensor map's, in elements
  if (path == Path::kSimple) return;
  if (path == Path::kFfma) return complain(sizeof(In) == 4, "float, not elements with bytes", sizeof(In));
  complain(sizeof(In) == 2, "half or bf16, not elements with bytes", sizeof(In));
  if (path == Path::kWgmma) {
    complain(target.sm == 90, "sm_90, not", target.sm);
  } else {
    complain(target.sm >= 80, "sm_80, not", target.sm);
  }
  const auto whole = [&](const auto& matrix, const char* name) {
    const int64_t address = static_cast<int64_t>(reinterpret_cast<uintptr_t>(matrix.data) % 16);
    complain(address == 0, "an address of ", name, " that 16 divides; the rest is", address);
    complain(matrix.pitch % 8 == 0, "a pitch of ", name, " that 8 divides, not", matrix.pitch);
    if (path == Path::kWgmma)
      complain(matrix.pitch < kMostPitch, "a pitch of ", name, " below 2^39, not", matrix.pitch);
    complain(p.batch < 2 || matrix.stride % 8 == 0, "a stride of ", name, " that 8 divides, not",
             matrix.stride);
  };
  whole(p.a, "a");
  whole(p.b, "b");
}

template <class In, class Out>
Path path_of(const Product<In, Out>& p, const Target& target) {
  if (p.k == 0) return Path::kSimple;  // all others begin with a stage of k
  if (p.path != Path::kAutomatic) {
    ask(p, p.path, target, [&](bool holds, const auto&... pieces) {
      days::require(holds, kWho, ": the path ", name_of(p.path), " needs ", pieces...);
    });
    return p.path;
  }
  Path best = Path::kSimple;
  constexpr Path kFaster[] = {Path::kFfma, Path::kMma, Path::kWgmma};
  for (const Path path : kFaster) {
    bool takes = true;
    ask(p, path, target, [&](bool holds, const auto&...) { takes &= holds; });
    if (takes) best = path;
  }
  return best;
}

// Of k, that a block has; the parts are equal but for the last one.
int part_of(int k, int split) {
  return std::max(1, days::ceil_div(days::ceil_div(k, kDepth), split)) * kDepth;
}

template <class In, class Out>
Finish<In> finish_of(const Product<In, Out>& p) {
  const bool bias = has_bias(p.epilogue), residual = has_residual(p.epilogue), kept = has_kept(p);
  Finish<In> f{};
  f.c = p.c.data, f.pitch_c = p.c.pitch, f.stride_c = p.c.stride;
  if (residual)
    f.residual = p.residual.data, f.pitch_residual = p.residual.pitch, f.stride_residual = p.residual.stride;
  if (kept) f.kept = p.kept.data, f.pitch_kept = p.kept.pitch, f.stride_kept = p.kept.stride;
  if (bias) f.bias = p.bias;
  f.m = p.m, f.n = p.n;
  f.alpha = p.alpha, f.epilogue = p.epilogue, f.adds = p.adds;
  f.floats = sizeof(Out) == 4;
  f.vectors = whole_rows(p.c, p.batch) && (!bias || days::aligned16(p.bias)) &&
              (!kept || whole_rows(p.kept, p.batch)) && (!residual || whole_rows(p.residual, p.batch));
  return f;
}

// The sums of each part as they are, for launch_sum.
template <class In>
Finish<In> sums_of(void* workspace, int m, int n) {
  Finish<In> f{};
  f.c = workspace, f.pitch_c = n, f.stride_c = int64_t{m} * n;
  f.m = m, f.n = n;
  f.alpha = 1, f.epilogue = Epilogue::kNone, f.floats = true;
  f.vectors = n % 4 == 0;
  return f;
}

template <class In>
void launch(Path path, const Task<In>& task, cudaStream_t stream) {
  if constexpr (sizeof(In) == 4) {
    if (path == Path::kFfma) return launch_ffma(task, stream);
  } else {
    if (path == Path::kMma) return launch_mma(task, stream);
    if (path == Path::kWgmma) return launch_wgmma(task, stream);
  }
  launch_simple(task, stream);
}

}  // namespace

const char* name_of(Path path) {
  switch (path) {
    case Path::kAutomatic:
      return "automatic";
    case Path::kSimple:
      return "simple";
    case Path::kFfma:
      return "ffma";
    case Path::kMma:
      return "mma";
    case Path::kWgmma:
      return "wgmma";
  }
  return "no path";
}

Target target_here() {
  const int device = 10 * days::device_attribute(cudaDevAttrComputeCapabilityMajor) +
                     days::device_attribute(cudaDevAttrComputeCapabilityMinor);
  const int code = compiled_for();
  // Code for 9.0 that a newer device runs has not what 9.0 alone has.
  return {code >= device ? device : std::min(code, 89), days::multiprocessors()};
}

template <class In, class Out>
Plan plan_of(const Product<In, Out>& p, const Target& target) {
  require_problem(p);
  Plan plan;
  plan.path = path_of(p, target);
  if (p.m == 0 || p.n == 0 || p.k == 0 || p.batch == 0) return plan;
  plan.split = p.split > 0 ? p.split : best_split(p, plan.path, std::max(1, target.multiprocessors));
  plan.split = days::ceil_div(p.k, part_of(p.k, plan.split));  // no part is empty
  if (plan.split > 1) {
    const double bytes = 4.0 * p.m * p.n * p.batch * plan.split;
    days::require(bytes < 1e15, kWho, ": the parts' sums are too many for any memory, bytes:", bytes);
    plan.workspace = static_cast<size_t>(int64_t{4} * p.m * p.n * p.batch * plan.split);
  }
  return plan;
}

template <class In, class Out>
void multiply(const Product<In, Out>& p, cudaStream_t stream) {
  const Plan plan = plan_of(p, target_here());
  if (p.m == 0 || p.n == 0 || p.batch == 0) return;
  require_pointers(p);
  days::require(p.workspace.bytes >= plan.workspace, kWho, ": needs a workspace of bytes:", plan.workspace,
                "; it has", p.workspace.bytes);
  days::require(plan.workspace == 0 || days::aligned16(p.workspace.data), kWho,
                ": the workspace begins at no multiple of 16 bytes, but beside it by",
                reinterpret_cast<uintptr_t>(p.workspace.data) % 16);
  days::require(plan.workspace == 0 || p.workspace.data != nullptr, kWho, ": the workspace is null");
  Task<In> task{};
  task.a = p.a.data, task.lda = p.a.pitch, task.stride_a = p.a.stride;
  task.b = p.b.data, task.ldb = p.b.pitch, task.stride_b = p.b.stride;
  task.m = p.m, task.n = p.n, task.k = p.k, task.part = part_of(p.k, plan.split);
  task.batch = p.batch, task.split = plan.split, task.op_a = p.op_a, task.op_b = p.op_b;
  task.finish = plan.split > 1 ? sums_of<In>(p.workspace.data, p.m, p.n) : finish_of(p);
  launch(plan.path, task, stream);
  if (plan.split > 1)
    launch_sum(static_cast<const float*>(p.workspace.data), p.batch, plan.split, finish_of(p), stream);
}

#define MODEL_PRODUCT(In, Out)                                   \
  template Plan plan_of(const Product<In, Out>&, const Target&); \
  template void multiply(const Product<In, Out>&, cudaStream_t)
MODEL_PRODUCT(float, float);
MODEL_PRODUCT(half, half);
MODEL_PRODUCT(half, float);
MODEL_PRODUCT(bf16, bf16);
MODEL_PRODUCT(bf16, float);
#undef MODEL_PRODUCT

}  // namespace model
