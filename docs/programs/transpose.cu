// SPDX-License-Identifier: MIT
//
// A matrix transposed in three ways, for docs/explain.md: the same bytes, moved at very different cost.
//   ./days explain --file docs/programs/transpose.cu
#include <cuda_runtime.h>
#include <cstdio>

constexpr int kSize = 1024;  // rows and columns
constexpr int kTile = 32;    // a block of 32 x 8 threads moves a tile of 32 x 32 elements
constexpr int kRows = 8;

__global__ void naive(const float* in, float* out) {
  const int x = blockIdx.x * kTile + threadIdx.x;
  for (int j = 0; j < kTile; j += kRows) {
    const int y = blockIdx.y * kTile + threadIdx.y + j;
    out[x * kSize + y] = in[y * kSize + x];
  }
}

// Rows of the tile are read and written along x; the turn happens in shared memory.
template <int kPad>
__device__ void turn(const float* in, float* out) {
  __shared__ float tile[kTile][kTile + kPad];
  const int lane = threadIdx.x, left = blockIdx.x * kTile, top = blockIdx.y * kTile;
  for (int j = threadIdx.y; j < kTile; j += kRows) {
    tile[j][lane] = in[(top + j) * kSize + left + lane];
  }
  __syncthreads();
  for (int j = threadIdx.y; j < kTile; j += kRows) {
    out[(left + j) * kSize + top + lane] = tile[lane][j];
  }
}

__global__ void tile(const float* in, float* out) {
  turn<0>(in, out);
}

__global__ void padded(const float* in, float* out) {
  turn<1>(in, out);
}

int main() {
  float *in, *out;
  cudaMallocManaged(&in, kSize * kSize * sizeof(float));
  cudaMallocManaged(&out, kSize * kSize * sizeof(float));
  for (int i = 0; i < kSize * kSize; ++i) in[i] = i;
  const dim3 grid(kSize / kTile, kSize / kTile), block(kTile, kRows);
  for (auto kernel : {naive, tile, padded}) {
    cudaMemset(out, 0, kSize * kSize * sizeof(float));
    kernel<<<grid, block>>>(in, out);
    if (const cudaError_t error = cudaDeviceSynchronize()) {
      printf("%s\n", cudaGetErrorString(error));
      return 1;
    }
    for (int y = 0; y < kSize; ++y) {
      for (int x = 0; x < kSize; ++x) {
        if (out[x * kSize + y] != in[y * kSize + x]) {
          printf("wrong at %d, %d\n", x, y);
          return 1;
        }
      }
    }
  }
}
