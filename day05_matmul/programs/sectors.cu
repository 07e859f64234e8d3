// SPDX-License-Identifier: MIT
//
// How many 32-byte sectors does one request of a warp touch? The warp counts for itself: each lane computes
// the address that matmul would use, lanes with the same sector find each other (__match_any_sync), and the
// lowest of each group counts one.
//
//   nvcc -std=c++20 -arch=sm_75 day05_matmul/programs/sectors.cu -o sectors && ./sectors [m n k]
//
// With --addresses it also prints what each lane touches; pictures/warp_requests.py draws from that.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int kWarp = 32;
constexpr int kSector = 32;  // bytes: what L1, L2 and DRAM move is counted in sectors

#define CHECK(call)                                                                                  \
  do {                                                                                               \
    const cudaError_t error = (call);                                                                \
    if (error != cudaSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error)); \
      std::exit(1);                                                                                  \
    }                                                                                                \
  } while (0)

struct Requests {
  int sectors[3];               // of the reads of a and b and the write of c
  long long address[3][kWarp];  // bytes from the start of the matrix
};

__device__ int count_sectors(long long address) {
  const unsigned same = __match_any_sync(0xffffffffu, address / kSector);  // the lanes in my sector
  const bool lowest = __ffs(same) - 1 == static_cast<int>(threadIdx.x);
  return __popc(__ballot_sync(0xffffffffu, lowest));
}

// One warp: block (0,0), threadIdx.y = 0, step `i` of the loop over k.
__global__ void count_kernel(bool x_is_row, int n, int k, int i, Requests* out) {
  const int lane = threadIdx.x;
  const long long row = x_is_row ? lane : 0;
  const long long col = x_is_row ? 0 : lane;
  const long long address[3] = {4 * (row * k + i), 4 * (i * static_cast<long long>(n) + col),
                                4 * (row * n + col)};
  for (int r = 0; r < 3; ++r) {
    out->address[r][lane] = address[r];
    const int sectors = count_sectors(address[r]);
    if (lane == 0) out->sectors[r] = sectors;
  }
}

int main(int argc, char** argv) {
  const bool addresses = argc > 1 && std::strcmp(argv[argc - 1], "--addresses") == 0;
  const int numbers = argc - 1 - (addresses ? 1 : 0);
  int m = 256, n = 256, k = 256;
  if (numbers == 3) {
    m = std::atoi(argv[1]);
    n = std::atoi(argv[2]);
    k = std::atoi(argv[3]);
  }
  if ((numbers != 0 && numbers != 3) || m < kWarp || n < kWarp || k < 1) {
    std::fprintf(stderr, "usage: sectors [m n k] [--addresses]   with m and n at least 32, k at least 1\n");
    return 2;
  }
  Requests* device = nullptr;
  CHECK(cudaMalloc(&device, sizeof(Requests)));
  const char* request[3] = {"read  a[row * k + i]", "read  b[i * n + col]", "write c[row * n + col]"};
  std::printf("one warp of a %d x %d x %d matmul, first step of its loop\n\n", m, n, k);
  std::printf("rung     request                  sectors   bytes used of moved\n");
  for (const bool x_is_row : {true, false}) {
    count_kernel<<<1, kWarp>>>(x_is_row, n, k, 0, device);
    CHECK(cudaGetLastError());
    Requests host;
    CHECK(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost));
    for (int r = 0; r < 3; ++r) {
      const int different = r == 0 ? (x_is_row ? kWarp : 1) : r == 1 ? (x_is_row ? 1 : kWarp) : kWarp;
      std::printf("%-8s %-24s %7d   %4d of %4d\n", x_is_row ? "rows" : "columns", request[r], host.sectors[r],
                  4 * different, kSector * host.sectors[r]);
      if (addresses) {
        std::printf("addresses %s %d:", x_is_row ? "rows" : "columns", r);
        for (const long long address : host.address[r]) std::printf(" %lld", address);
        std::printf("\n");
      }
    }
    const double per_step = host.sectors[0] + host.sectors[1];
    std::printf("         one step: %.0f sectors for %d multiply-adds\n\n", per_step, kWarp);
  }
  CHECK(cudaFree(device));
  return 0;
}
