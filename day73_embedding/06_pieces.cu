// SPDX-License-Identifier: MIT
// Equal shares: the sorted places are cut every 64, and a warp has a piece and 512 bytes of each row, whatever words lie in it. A
// word that lies in one piece is written at once. Of one that the cut divides each piece leaves a partial sum, and a second kernel
// adds these up, in order, for each word; it also writes the zeros of words without tokens. Four rows are loaded before the first
// is added up.
// Changed since sorted: the longest chain, 64 rows and then one sum for each 64, and 16 bytes a load. Bound by: memory.
#include "common/reduce.cuh"
#include "common/vector.cuh"
#include "day73_embedding/embedding.h"

namespace day73 {
namespace {

constexpr int kAhead = 4;  // rows under way
static_assert(kPiece % days::kWarpSize == 0 && days::kWarpSize % kAhead == 0);

template <class T>
constexpr int kEach = days::Vec<T>::kSize;  // columns of a lane
template <class T>
constexpr int kColumns = kEach<T>* days::kWarpSize;

// fp32 sums of a lane's columns.
template <class T>
struct Sums {
  float of[kEach<T>] = {};

  __device__ void add(const days::Vec<T>& row) {
#pragma unroll
    for (int i = 0; i < kEach<T>; ++i) of[i] += days::to_float(row[i]);
  }
  __device__ void write(T* dw) const {
    days::Vec<T> row;
#pragma unroll
    for (int i = 0; i < kEach<T>; ++i) row[i] = days::from_float<T>(of[i]);
    days::store16(dw, row);
  }
  // As vectors of four.
  __device__ void write_partial(float* to) const {
#pragma unroll
    for (int i = 0; i < kEach<T>; i += 4)
      days::store16(to + i, days::Vec<float>{{of[i], of[i + 1], of[i + 2], of[i + 3]}});
  }
  __device__ void add_partial(const float* from) {
#pragma unroll
    for (int i = 0; i < kEach<T>; i += 4) {
      const days::Vec<float> four = days::load16(from + i);
#pragma unroll
      for (int k = 0; k < 4; ++k) of[i + k] += four[k];
    }
  }
};

// A warp of a grid whose warps have a strip of kColumns columns of each of `count` things.
template <class T>
struct Strip {
  int64_t of;  // the thing
  int col;     // this lane's first
  __device__ explicit Strip(int width) {
    const int strips = days::ceil_div(width, kColumns<T>);
    const int64_t warp = int64_t{blockIdx.x} * kWarps + static_cast<int>(threadIdx.x) / days::kWarpSize;
    of = warp / strips;
    col = static_cast<int>(warp % strips) * kColumns<T> +
          static_cast<int>(threadIdx.x) % days::kWarpSize * kEach<T>;
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads, 3) pieces_kernel(const T* dy,  // (count, width)
                                                             const Places sorted,
                                                             T* dw,            // (vocab, width)
                                                             float* partials,  // (pieces, 2, width)
                                                             int vocab, int width) {
  const Strip<T> strip(width);
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  const int words = sorted.starts[vocab];  // places with a gradient
  const int64_t first = strip.of * kPiece;
  if (first >= words) return;
  const int begin = static_cast<int>(first), end = words - begin < kPiece ? words : begin + kPiece;
  const bool mine = strip.col < width;  // all lanes take part, because they exchange places
  // Whether the next sum to be written is of a word that the piece before has some of, too.
  bool began_before = begin > 0 && sorted.words[begin - 1] == sorted.words[begin];
  Sums<T> sums;
  for (int round = begin; round < end; round += days::kWarpSize) {
    const int here = round + lane;
    const uint32_t word = here < end ? sorted.words[here] : 0, place = here < end ? sorted.places[here] : 0;
    // The last place of its word, as far as words go.
    const bool last = here < end && (here + 1 >= words || sorted.words[here + 1] != word);
    const unsigned lasts = __ballot_sync(days::kFullWarp, last);
#pragma unroll 1
    for (int group = 0; group < days::kWarpSize; group += kAhead) {
      if (round + group >= end) break;
      days::Vec<T> rows[kAhead] = {};
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        const uint32_t from = __shfl_sync(days::kFullWarp, place, group + i);
        if (mine && round + group + i < end) rows[i] = days::load16(dy + int64_t{from} * width + strip.col);
      }
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        const int at = round + group + i;
        if (at >= end) break;
        sums.add(rows[i]);
        const bool ends = lasts >> (group + i) & 1;
        if (!ends && at + 1 < end) continue;
        const uint32_t of = __shfl_sync(days::kFullWarp, word, group + i);
        if (mine && (began_before || !ends)) {
          const int side = began_before ? kAtBegin : kAtEnd;
          sums.write_partial(partials + (2 * strip.of + side) * width + strip.col);
        } else if (mine) {
          sums.write(dw + int64_t{of} * width + strip.col);
        }
        sums = {};
        began_before = false;
      }
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) words_kernel(const float* partials,  // (pieces, 2, width)
                                                         const int32_t* starts,  // (vocab + 1)
                                                         T* dw,                  // (vocab, width)
                                                         int vocab, int width) {
  const Strip<T> strip(width);
  if (strip.of >= vocab || strip.col >= width) return;
  const int begin = starts[strip.of], end = starts[strip.of + 1];
  const int first = begin / kPiece, last = (end - 1) / kPiece;
  if (begin < end && first == last) return;  // pieces_kernel has written it
  Sums<T> sums;
  if (begin < end) {
    const float* const from = partials + strip.col;
    sums.add_partial(from + (int64_t{2} * first + kAtEnd) * width);
#pragma unroll 8
    for (int piece = first + 1; piece <= last; ++piece)
      sums.add_partial(from + (int64_t{2} * piece + kAtBegin) * width);
  }
  sums.write(dw + strip.of * width + strip.col);
}

}  // namespace

template <class T>
void embedding_pieces(const EmbeddingBackward<T>& p, cudaStream_t stream) {
  char* const memory = workspace_of(p, pieces_workspace(p), "pieces");
  days::require_needs(p, "pieces", kRowsOf16Bytes);
  const Places sorted = sort_tokens(p.tokens, p.count, p.vocab, p.padding, memory, stream);
  float* const partials = reinterpret_cast<float*>(memory + sorted_workspace(p));
  const int64_t strips = days::ceil_div(p.width, kColumns<T>);
  pieces_kernel<<<days::grid_of(strips * days::ceil_div(p.count, kPiece), kWarps, "pieces"), kThreads, 0,
                  stream>>>(p.dy, sorted, p.dw, partials, p.vocab, p.width);
  CUDA_CHECK_LAUNCH();
  words_kernel<<<days::grid_of(strips * p.vocab, kWarps, "pieces"), kThreads, 0, stream>>>(
      partials, sorted.starts, p.dw, p.vocab, p.width);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(embedding_pieces, EmbeddingBackward, float, days::half, days::bf16);

}  // namespace day73
