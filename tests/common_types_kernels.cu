// SPDX-License-Identifier: MIT
//
// Right and wrong launchers of common_types_test.h.
#include <cuda_fp8.h>

#include "common/check.h"
#include "tests/common_types_test.h"

namespace types_test {
namespace {

enum Wrong { kRight, kSwapped, kDropLast, kOffByOne, kSkipsEmpty, kSorts };

// A thread for each byte of codes. The padding of an odd count is written too: it is nobody's.
template <class T, Wrong kWrong>
__global__ void codes_kernel(Codes<T> p) {
  const int first = 2 * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (first >= p.n()) return;
  const bool pair = first + 1 < p.n();
  p.negative[first] = days::from_float<T>(-days::to_float(p.x[first]));
  if (pair) p.negative[first + 1] = days::from_float<T>(-days::to_float(p.x[first + 1]));
  unsigned lower = code_of(p.x[first]), upper = pair ? code_of(p.x[first + 1]) : 15;
  if (kWrong == kOffByOne && first == 2) upper ^= 1;
  if (kWrong == kDropLast && !pair) return;
  p.codes[first / 2] = kWrong == kSwapped ? days::uint4x2::of(upper, lower) : days::uint4x2::of(lower, upper);
}
template <Wrong kWrong, class T>
void launch(const Codes<T>& p, cudaStream_t stream) {
  codes_kernel<T, kWrong><<<(static_cast<unsigned>(p.n()) + 127) / 128, 64, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

template <class T, Wrong kWrong>
__global__ void spmv_kernel(Spmv<T> p) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= p.rows) return;
  const int begin = p.row_ptr[row], end = p.row_ptr[row + 1];
  if (kWrong == kSkipsEmpty && begin == end) return;
  float sum = 0;
  for (int i = begin; i < end; ++i) sum += days::to_float(p.values[i]) * days::to_float(p.x[p.columns[i]]);
  p.y[row] = days::from_float<T>(sum);
  if (kWrong == kSorts && row == 0 && end - begin > 1) {
    const_cast<int32_t*>(p.columns)[begin] = p.columns[begin + 1];
  }
}
template <Wrong kWrong, class T>
void launch(const Spmv<T>& p, cudaStream_t stream) {
  spmv_kernel<T, kWrong><<<(static_cast<unsigned>(p.rows) + 127) / 128, 128, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

template <class T>
void codes_right(const Codes<T>& p, cudaStream_t stream) {
  launch<kRight>(p, stream);
}
template void codes_right(const Codes<float>&, cudaStream_t);
template void codes_right(const Codes<days::fp8_e4m3>&, cudaStream_t);
template void codes_right(const Codes<days::fp8_e5m2>&, cudaStream_t);

void codes_swapped(const Codes<days::fp8_e4m3>& p, cudaStream_t stream) {
  launch<kSwapped>(p, stream);
}
void codes_drop_last(const Codes<days::fp8_e5m2>& p, cudaStream_t stream) {
  launch<kDropLast>(p, stream);
}
void codes_off_by_one(const Codes<days::fp8_e4m3>& p, cudaStream_t stream) {
  launch<kOffByOne>(p, stream);
}

template <class T>
void spmv_right(const Spmv<T>& p, cudaStream_t stream) {
  launch<kRight>(p, stream);
}
template void spmv_right(const Spmv<float>&, cudaStream_t);
template void spmv_right(const Spmv<days::half>&, cudaStream_t);

void spmv_skips_empty(const SpmvFloat& p, cudaStream_t stream) {
  launch<kSkipsEmpty>(p, stream);
}
void spmv_sorts_in_place(const SpmvFloat& p, cudaStream_t stream) {
  launch<kSorts>(p, stream);
}

}  // namespace types_test
