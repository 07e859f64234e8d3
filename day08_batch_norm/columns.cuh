// SPDX-License-Identifier: MIT
// Where channels are the last extent: a lane owns the channels of a word and
// walks down the rows. What last_columns and last_together share.
#pragma once

#include "day08_batch_norm/share.cuh"

namespace day08 {

// The moments of the channels of a word, each of n rows.
template <int kEach>
struct ColumnMoments {
  float n = 0, mean[kEach] = {}, m2[kEach] = {};
};

// Tiles of kChannels channels. A block's threads are kAcross words wide and
// kDown rows high: 8 words of 16 bytes are a whole line of 128 bytes, so that a
// warp asks for four rows of it; single elements go 32 to a row.
template <class T, bool kWide, int kBlockThreads>
struct Tile : Words<T, kWide> {
  using Some = Words<T, kWide>;
  using Word = typename Some::Word;
  static constexpr int kEach = Some::kEach, kAcross = kWide ? 8 : days::kWarpSize;
  static constexpr int kChannels = kAcross * kEach, kDown = kBlockThreads / kAcross;
  static constexpr int kWarps = kBlockThreads / days::kWarpSize;
  static constexpr int kTurns = kBlockThreads / kChannels;  // threads for each channel
  static_assert(kChannels <= kMostOfTile && kChannels >= kLeastOfTile && kTurns <= kWarps);

  // Adds `count` rows at once, to each channel as add_words of together does.
  __device__ static void add_rows(ColumnMoments<kEach>& to, const Word (&word)[kAhead], int count) {
    const float n = static_cast<float>(count), all = to.n + n, one = 1 / n, weight = n / all;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (to.n == 0) to.mean[i] = Some::value(word[0], i);
      float sum = 0, squares = 0;
#pragma unroll
      for (int a = 0; a < kAhead; ++a)
        if (a < count) sum += Some::value(word[a], i) - to.mean[i];
      const float off = sum * one;
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        if (a < count) {
          const float distance = Some::value(word[a], i) - to.mean[i] - off;
          squares += distance * distance;
        }
      }
      to.mean[i] += off * weight;
      to.m2[i] += squares + off * off * (to.n * weight);
    }
    to.n = all;
  }

  // The moments of all rows of the block, for the tile's channels, to parts[0
  // .. kChannels). All threads must call it; two barriers.
  __device__ static void merge_rows(const ColumnMoments<kEach>& mine, Moments (&buffer)[kWarps][kChannels],
                                    Moments* parts, int channels) {
    const int lane = threadIdx.x % days::kWarpSize;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const Moments m = days::merge_pairs<kAcross>(Moments{mine.n, mine.mean[i], mine.m2[i]});
      if (lane < kAcross) buffer[threadIdx.x / days::kWarpSize][lane * kEach + i] = m;
    }
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < min(kChannels, channels)) {
      Moments m;
      for (int warp = 0; warp < kWarps; ++warp) m.add(buffer[warp][threadIdx.x]);
      parts[threadIdx.x] = m;
    }
    __syncthreads();
  }

  // The tile's channels, of which there are `channels` from `first` on, from
  // their `count` parts, `stride` apart: what x becomes there, in affine;
  // `keeps` blocks keep them. All threads must call it; three barriers.
  __device__ static void merge_tile(const BatchNorm<T>& p, const Moments* parts, int count, int stride,
                                    int first, bool keeps, Moments (&buffer)[kWarps][kChannels],
                                    Affine (&affine)[kChannels]) {
    const int channel = static_cast<int>(threadIdx.x) % kChannels,
              turn = static_cast<int>(threadIdx.x) / kChannels;
    const bool exists = first + channel < p.channels;
    Moments m;
    if (exists) {
      for (int part = turn; part < count; part += kTurns) m.add(parts[int64_t{part} * stride + channel]);
    }
    buffer[turn][channel] = m;
    __syncthreads();
    if (turn == 0) affine[channel] = {};  // a word may reach beyond the last channel
    if (turn == 0 && exists) {
      for (int other = 1; other < kTurns; ++other) m.add(buffer[other][channel]);
      affine[channel] = affine_of(p, m, first + channel);
      if (keeps) keep(p, m, first + channel);
    }
    __syncthreads();
  }

  // What x becomes in the channels of this thread's word.
  struct Row {
    Affine of[kEach];

    __device__ explicit Row(const Affine (&affine)[kChannels]) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) of[i] = affine[static_cast<int>(threadIdx.x) % kAcross * kEach + i];
    }
    __device__ void store(T* y, int64_t at, const Word& word) const {
      Some::store(y, at, [&](int i) { return of[i](Some::value(word, i)); });
    }
  };
};

}  // namespace day08
