// SPDX-License-Identifier: MIT
// The other layout, (batch, space, channels): now neighbours in memory are other channels. So a lane owns a word of 16 bytes, 8 channels in 16 bits, and
// walks down the rows: lanes of a row never meet. A tile of 64 channels (32 in fp32) is cut into pieces of rows; two launches, as in pieces.
// Changed since pieces: whole vectors and four rows under way; a warp's lanes meet only those that have the same channels.
// Bound by: memory, three trips.
#include "common/check.h"
#include "day08_batch_norm/columns.cuh"

namespace day08 {
namespace {

// The rows of a tile's piece.
struct Rows {
  int begin, end;

  __device__ Rows(int rows, int piece, int pieces)
      : begin(static_cast<int>(int64_t{rows} * piece / pieces)),
        end(static_cast<int>(int64_t{rows} * (piece + 1) / pieces)) {}
};

template <class T, bool kWide>
__global__ void __launch_bounds__(kThreads) column_moments_kernel(const BatchNorm<T> p,
                                                                  Moments* parts,  // (pieces, channels)
                                                                  int pieces) {
  using Cut = Tile<T, kWide, kThreads>;
  __shared__ Moments buffer[Cut::kWarps][Cut::kChannels];
  const int tile = blockIdx.x / pieces, piece = blockIdx.x % pieces, width = p.channels / Cut::kEach;
  const Rows rows(p.batch * p.space, piece, pieces);
  const int across = tile * Cut::kAcross + static_cast<int>(threadIdx.x) % Cut::kAcross;
  ColumnMoments<Cut::kEach> mine;
  if (across < width) {
    for (int row = rows.begin + static_cast<int>(threadIdx.x) / Cut::kAcross; row < rows.end;
         row += kAhead * Cut::kDown) {
      const int count = min(kAhead, (rows.end - row - 1) / Cut::kDown + 1);
      typename Cut::Word word[kAhead];
#pragma unroll
      for (int a = 0; a < kAhead; ++a)
        if (a < count) word[a] = Cut::at(p.x, int64_t{row + a * Cut::kDown} * width + across);
      Cut::add_rows(mine, word, count);
    }
  }
  const int first = tile * Cut::kChannels;
  Cut::merge_rows(mine, buffer, parts + int64_t{piece} * p.channels + first, p.channels - first);
}

template <class T, bool kWide>
__global__ void __launch_bounds__(kThreads)
    column_normalise_kernel(const BatchNorm<T> p, const Moments* parts, int pieces) {
  using Cut = Tile<T, kWide, kThreads>;
  __shared__ Moments buffer[Cut::kWarps][Cut::kChannels];
  __shared__ Affine affine[Cut::kChannels];
  const int tile = blockIdx.x / pieces, piece = blockIdx.x % pieces, width = p.channels / Cut::kEach;
  const Rows rows(p.batch * p.space, piece, pieces);
  const int across = tile * Cut::kAcross + static_cast<int>(threadIdx.x) % Cut::kAcross,
            first = tile * Cut::kChannels;
  Cut::merge_tile(p, parts + first, pieces, p.channels, first, piece == 0, buffer, affine);
  if (across >= width) return;
  const typename Cut::Row of_row(affine);
  for (int row = rows.begin + static_cast<int>(threadIdx.x) / Cut::kAcross; row < rows.end;
       row += kAhead * Cut::kDown) {
    const int count = min(kAhead, (rows.end - row - 1) / Cut::kDown + 1);
    const int64_t at = int64_t{row} * width + across;
    typename Cut::Word word[kAhead];
#pragma unroll
    for (int a = 0; a < kAhead; ++a)
      if (a < count) word[a] = Cut::at(p.x, at + int64_t{a * Cut::kDown} * width);
#pragma unroll
    for (int a = 0; a < kAhead; ++a)
      if (a < count) of_row.store(p.y, at + int64_t{a * Cut::kDown} * width, word[a]);
  }
}

template <class T, bool kWide>
void launch(const BatchNorm<T>& p, cudaStream_t stream) {
  using Cut = Tile<T, kWide, kThreads>;
  Moments* parts = static_cast<Moments*>(p.workspace.data);
  const int tiles = days::ceil_div(p.channels, Cut::kChannels);
  // As many blocks as the device holds, twice over; but a thread is to have kAhead rows.
  const int64_t wanted = days::ceil_div(2 * days::resident_threads() / kThreads, int64_t{tiles});
  const int64_t most = days::ceil_div(int64_t{p.batch} * p.space, int64_t{Cut::kDown} * kAhead);
  const int pieces = static_cast<int>(std::min({wanted, most, int64_t{kMostRowPieces}}));
  const unsigned blocks = static_cast<unsigned>(tiles) * static_cast<unsigned>(pieces);
  column_moments_kernel<T, kWide><<<blocks, kThreads, 0, stream>>>(p, parts, pieces);
  CUDA_CHECK_LAUNCH();
  column_normalise_kernel<T, kWide><<<blocks, kThreads, 0, stream>>>(p, parts, pieces);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

template <class T>
void batch_norm_last_columns(const BatchNorm<T>& p, cudaStream_t stream) {
  require_problem(p, "last_columns", last_columns_workspace(p));
  whole_vectors<T>(p.channels, p.x, p.y) ? launch<T, true>(p, stream) : launch<T, false>(p, stream);
}

INSTANTIATE_LAUNCHER(batch_norm_last_columns, BatchNorm, float, days::half, days::bf16);

}  // namespace day08
