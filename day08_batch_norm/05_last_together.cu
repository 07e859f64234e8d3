// SPDX-License-Identifier: MIT
// Last_columns' tiles by together's blocks: tile after tile in equal shares of rows, and a share's rows are kept until all blocks have met.
// Changed since last_columns: two trips to memory for three, as far as x fits on the chip; one launch for two.
// Bound by: memory, the barrier, and the parts of a tile, which each of its blocks merges behind it.
#include <cooperative_groups.h>

#include "common/check.h"
#include "day08_batch_norm/columns.cuh"

namespace day08 {
namespace {

template <class T, bool kWide>
__global__ void __launch_bounds__(kShareThreads, kBlocksOfMultiprocessor)
    last_together_kernel(const BatchNorm<T> p,
                         Moments* parts,  // (places, channels of a tile)
                         int room) {      // rows of a tile's words that fit
  using Cut = Tile<T, kWide, kShareThreads>;
  using Word = typename Cut::Word;
  extern __shared__ uint4 shared[];
  __shared__ Moments buffer[Cut::kWarps][Cut::kChannels];
  __shared__ Affine affine[Cut::kChannels];
  Word* kept = reinterpret_cast<Word*>(shared);  // (room, kAcross)
  const int width = p.channels / Cut::kEach, tiles = days::ceil_div(p.channels, Cut::kChannels);
  const int column = static_cast<int>(threadIdx.x) % Cut::kAcross,
            down = static_cast<int>(threadIdx.x) / Cut::kAcross;
  const Share share(tiles, p.batch * p.space);

  for (int tile = share.first(); tile <= share.last(); ++tile) {
    const Share::Segment rows = share.segment(tile);
    const int across = tile * Cut::kAcross + column;
    ColumnMoments<Cut::kEach> mine;
    if (across < width) {
      for (int row = rows.begin + down; row < rows.end; row += kAhead * Cut::kDown) {
        const int count = min(kAhead, (rows.end - row - 1) / Cut::kDown + 1);
        const int64_t at = rows.kept + row - rows.begin;
        Word word[kAhead];
#pragma unroll
        for (int a = 0; a < kAhead; ++a)
          if (a < count) word[a] = Cut::at(p.x, int64_t{row + a * Cut::kDown} * width + across);
#pragma unroll
        for (int a = 0; a < kAhead; ++a)
          if (a < count && at + a * Cut::kDown < room)
            kept[(at + a * Cut::kDown) * Cut::kAcross + column] = word[a];
        Cut::add_rows(mine, word, count);
      }
    }
    Cut::merge_rows(mine, buffer, parts + (int64_t{blockIdx.x} + tile) * Cut::kChannels,
                    p.channels - tile * Cut::kChannels);
  }

  cooperative_groups::this_grid().sync();

  for (int tile = share.last(); tile >= share.first(); --tile) {
    const Share::Segment rows = share.segment(tile);
    const Share::Places places = share.places(tile);
    const int across = tile * Cut::kAcross + column;
    Cut::merge_tile(p, parts + int64_t{places.first} * Cut::kChannels, places.last - places.first + 1,
                    Cut::kChannels, tile * Cut::kChannels,
                    places.first == static_cast<int>(blockIdx.x) + tile, buffer, affine);
    const typename Cut::Row of_row(affine);
    if (across < width && rows.begin + down < rows.end) {
      const int last = rows.end - 1 - (rows.end - 1 - rows.begin - down) % Cut::kDown;  // the thread's
      for (int row = last; row >= rows.begin; row -= kFewAhead * Cut::kDown) {
        Word word[kFewAhead];
#pragma unroll
        for (int a = 0; a < kFewAhead; ++a) {
          const int here = row - a * Cut::kDown;
          const int64_t at = rows.kept + here - rows.begin;
          if (here >= rows.begin)
            word[a] =
                at < room ? kept[at * Cut::kAcross + column] : Cut::at(p.x, int64_t{here} * width + across);
        }
#pragma unroll
        for (int a = 0; a < kFewAhead; ++a) {
          const int here = row - a * Cut::kDown;
          if (here >= rows.begin) of_row.store(p.y, int64_t{here} * width + across, word[a]);
        }
      }
    }
    __syncthreads();  // the next tile may overwrite affine
  }
}

template <class T, bool kWide>
void launch(const BatchNorm<T>& p, size_t bytes, cudaStream_t stream) {
  using Cut = Tile<T, kWide, kShareThreads>;
  const int64_t rows = int64_t{p.batch} * p.space * days::ceil_div(p.channels, Cut::kChannels);
  const Stay stay(last_together_kernel<T, kWide>, rows, Cut::kDown, bytes);
  days::launch_cooperative("last_together", last_together_kernel<T, kWide>, stay.blocks, kShareThreads,
                           stay.shared, stream, p, static_cast<Moments*>(p.workspace.data),
                           static_cast<int>(stay.shared / (sizeof(typename Cut::Word) * Cut::kAcross)));
}

}  // namespace

template <class T>
void batch_norm_last_together_keeping(const BatchNorm<T>& p, size_t bytes, cudaStream_t stream) {
  require_problem(p, "last_together", last_together_workspace(p));
  whole_vectors<T>(p.channels, p.x, p.y) ? launch<T, true>(p, bytes, stream)
                                         : launch<T, false>(p, bytes, stream);
}
template <class T>
void batch_norm_last_together(const BatchNorm<T>& p, cudaStream_t stream) {
  batch_norm_last_together_keeping(p, kAllThereIs, stream);
}

INSTANTIATE_LAUNCHER(batch_norm_last_together, BatchNorm, float, days::half, days::bf16);
template void batch_norm_last_together_keeping(const BatchNorm<float>&, size_t, cudaStream_t);

}  // namespace day08
