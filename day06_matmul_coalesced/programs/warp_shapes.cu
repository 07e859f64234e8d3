// SPDX-License-Identifier: MIT
//
// A warp's 32 elements of c can be a row, a column or anything between. How many 32-byte sectors does each
// shape read in one step of the loop? The warp counts for itself: lanes whose addresses lie in one sector
// find each other (__match_any_sync), and the lowest of each group counts one.
//
//   nvcc -std=c++20 -arch=sm_75 day06_matmul_coalesced/programs/warp_shapes.cu -o shapes && ./shapes

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

constexpr int kWarp = 32;
constexpr int kSector = 32;  // bytes
constexpr int kN = 256;      // a, b and c are kN x kN
constexpr int kShapes = 6;   // 1, 2, 4, 8, 16, 32 rows

#define CHECK(call)                                                                                  \
  do {                                                                                               \
    const cudaError_t error = (call);                                                                \
    if (error != cudaSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error)); \
      std::exit(1);                                                                                  \
    }                                                                                                \
  } while (0)

struct Sectors {
  int a, b;
};

__device__ int count_sectors(int element) {
  const int sector = element * static_cast<int>(sizeof(float)) / kSector;
  const unsigned same = __match_any_sync(0xffffffffu, sector);  // the lanes in my sector
  const bool lowest = __ffs(same) - 1 == static_cast<int>(threadIdx.x);
  return __popc(__ballot_sync(0xffffffffu, lowest));
}

// Block s is one warp whose elements of c are 2^s rows of 32 / 2^s columns; step 0 of the loop.
__global__ void shapes_kernel(Sectors* out) {
  const int cols = kWarp >> blockIdx.x;
  const int row = threadIdx.x / cols, col = threadIdx.x % cols;
  const int a = count_sectors(row * kN);  // a[row][0]
  const int b = count_sectors(col);       // b[0][col]
  if (threadIdx.x == 0) out[blockIdx.x] = {a, b};
}

int main() {
  Sectors* device = nullptr;
  CHECK(cudaMalloc(&device, kShapes * sizeof(Sectors)));
  shapes_kernel<<<kShapes, kWarp>>>(device);
  CHECK(cudaGetLastError());
  Sectors sectors[kShapes];
  CHECK(cudaMemcpy(sectors, device, sizeof sectors, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device));
  std::printf("sectors that a warp reads in one step, by its shape in c\n\n");
  std::printf("rows x columns   of a   of b   both\n");
  for (int s = 0; s < kShapes; ++s) {
    std::printf("%4d x %-2d       %5d  %5d  %5d\n", 1 << s, kWarp >> s, sectors[s].a, sectors[s].b,
                sectors[s].a + sectors[s].b);
  }
  return 0;
}
