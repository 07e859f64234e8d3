// SPDX-License-Identifier: MIT
//
// Right and wrong launchers of common_outputs_test.h.
#include "common/check.h"
#include "common/types.h"
#include "tests/common_outputs_test.h"

namespace outputs_test {
namespace {

enum Wrong { kRight, kSumsInT, kSumsOff, kAllOff, kOneMore, kBeforeY };

// One thread: what is tested is not the kernel.
template <class T, Wrong kWrong>
__global__ void columns_kernel(Columns<T> p) {
  int negative = kWrong == kOneMore ? 1 : 0;
  for (int col = 0; col < p.cols; ++col) {
    float sum = kWrong == kAllOff ? 1 : 0;
    for (int row = 0; row < p.rows; ++row) {
      const float x = days::to_float(p.x[row * p.cols + col]);
      p.y[row * p.cols + col] = days::from_float<T>(2 * x + (kWrong == kAllOff ? 1 : 0));
      negative += x < 0 ? 1 : 0;
      sum += x;
    }
    if (kWrong == kSumsInT) sum = days::to_float(days::from_float<T>(sum));
    if (kWrong == kSumsOff && col == p.cols - 1) sum += 1e-4f;
    p.sums[col] = sum;
  }
  *p.negative = negative;
  if (kWrong == kBeforeY) p.y[-1] = p.y[0];
}

template <Wrong kWrong, class T>
void launch(const Columns<T>& p, cudaStream_t stream) {
  columns_kernel<T, kWrong><<<1, 1, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

template <class T>
void columns_right(const Columns<T>& p, cudaStream_t stream) {
  launch<kRight>(p, stream);
}
template void columns_right(const Columns<float>&, cudaStream_t);
template void columns_right(const Columns<days::half>&, cudaStream_t);

void sums_in_half(const Columns<days::half>& p, cudaStream_t stream) {
  launch<kSumsInT>(p, stream);
}
void sums_off(const Problem& p, cudaStream_t stream) {
  launch<kSumsOff>(p, stream);
}
void all_off(const Problem& p, cudaStream_t stream) {
  launch<kAllOff>(p, stream);
}
void counts_one_more(const Problem& p, cudaStream_t stream) {
  launch<kOneMore>(p, stream);
}
void writes_before_y(const Problem& p, cudaStream_t stream) {
  launch<kBeforeY>(p, stream);
}

}  // namespace outputs_test
