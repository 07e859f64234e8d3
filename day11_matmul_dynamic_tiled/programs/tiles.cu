// SPDX-License-Identifier: MIT
//
// What each size of tile takes, how many of its blocks a multiprocessor of this device holds at once, and which is
// picked for square matrices.
//
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp day11_matmul_dynamic_tiled/[0-9]*.cu day11_matmul_dynamic_tiled/programs/tiles.cu -o tiles && ./tiles

#include <cstdio>

#include "common/device.h"
#include "day11_matmul_dynamic_tiled/matmul.h"

int main() {
  const int most = days::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const int threads = days::device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  std::printf("%d multiprocessors of %d threads; a block gets at most %d bytes of shared memory\n\n",
              days::multiprocessors(), threads, most);
  std::printf("     tile   bytes a block   fetched for a step   blocks at once   threads\n");
  for (int tile = 32; tile <= 224; tile += 32) {
    const int blocks = day11::resident_blocks(tile);
    std::printf("%4d x %-3d %13lld %13.2f bytes   %14d %9d\n", tile, tile,
                static_cast<long long>(day11::tile_bytes(tile)), 256.0 / tile, blocks, 512 * blocks);
  }
  std::printf("\n  rows and columns of c   picked\n");
  for (int side = 128; side <= 8192; side *= 2)
    std::printf("%23d %8d\n", side, day11::picked_tile(side, side));
}
