// SPDX-License-Identifier: MIT
//
// A ring that runs ahead: a warp gives a piece back as soon as it is full, and then reads it. The next copy into it may be faster.
// checked: [simt-race-shared]
#include <cstdio>

#include "common/buffer.h"
#include "common/program.h"
#include "common/reduce.cuh"
#include "common/ring.cuh"

constexpr int kPieces = 2, kReaders = 2, kRow = 64, kRows = 12;
struct alignas(128) Piece {
  float row[kRow];
};
using Ring = days::Ring<Piece, kPieces, kReaders>;

// Each reader adds up half of every row.
__global__ void row_sums(const float* rows, float* sums) {
  __shared__ Ring ring;
  ring.init();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  days::Turn<kPieces> turn;
  for (int r = 0; r < kRows; ++r, turn.next()) {
    if (warp == kReaders) {
      days::ptx::mbarrier_wait(&ring.empty[turn.stage], turn.phase ^ 1);
      if (lane == 0) {
        days::ptx::mbarrier_arrive_expect_tx(&ring.full[turn.stage], sizeof(Piece));
        days::ptx::cp_async_bulk(ring.stage[turn.stage].row, rows + r * kRow, sizeof(Piece),
                                 &ring.full[turn.stage]);
      }
    } else {
      days::ptx::mbarrier_wait(&ring.full[turn.stage], turn.phase);
      ring.release(turn.stage);  // too early
      const float sum = days::warp_reduce(ring.stage[turn.stage].row[warp * 32 + lane], days::Sum{});
      if (lane == 0) sums[2 * r + warp] = sum;
    }
  }
}

int main(int argc, char** argv) {
  const days::About about{"released_unread", "a ring whose pieces are given back unread", kRows, kRows};
  return days::program(argc, argv, about, [](days::Program& program) {
    std::vector<float> rows(kRows * kRow), expected(2 * kRows);
    for (int i = 0; i < kRows * kRow; ++i) {
      rows[static_cast<size_t>(i)] = static_cast<float>(i / kRow + 1);
      expected[static_cast<size_t>(i / 32)] += rows[static_cast<size_t>(i)];
    }
    const days::DeviceBuffer<float> from(rows), sums(2 * kRows);
    row_sums<<<1, 32 * (kReaders + 1)>>>(from.data(), sums.data());
    CUDA_CHECK_LAUNCH();
    program.compare(sums.download().data(), expected.data(), 2 * kRows, "row sums");
  });
}
