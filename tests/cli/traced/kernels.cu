// SPDX-License-Identifier: MIT
//
// Kernels whose requests, sectors, wavefronts and branches are known by hand: tests/cli/test_trace.py has
// the numbers. Two blocks of two warps where nothing else is said; buffers start at a multiple of 256 bytes.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cstdio>

struct Wide {
  float4 a, b;
};
__constant__ float factors[64];

__device__ float variable[256];

__device__ int index() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

// ---- global memory ----
__global__ void coalesced(const float* in, float* out) {
  out[index()] = in[index()];
}
__global__ void strided(const float* in, float* out) {
  out[index()] = in[8 * index()];
}
__global__ void offset_by_one(const float* in, float* out) {
  out[index()] = in[index() + 1];
}
__global__ void eight_bytes(const float2* in, float2* out) {
  out[index()] = in[index()];
}
__global__ void sixteen_bytes(const float4* in, float4* out) {
  out[index()] = in[index()];
}
__global__ void struct_of_32_bytes(const Wide* in, Wide* out) {
  out[index()] = in[index()];
}
__global__ void bytes(const char* in, char* out) {
  out[index()] = in[index()];
}
__global__ void tail(const float* in, float* out, int n) {
  const int i = index();
  if (i < n) out[i] = in[i];
}
__global__ void broadcast(const float* in, float* out) {
  out[index()] = *in;
}
__global__ void read_only(const float* in, float* out) {
  out[index()] = __ldg(in + index()) + __ldcs(in + 128 + index());
}
__global__ void update(float* out) {
  out[index()] += 1;
}
__global__ void backwards(const float* in, float* out) {
  out[index()] = in[127 - index()];
}
__global__ void constants_and_locals(float* out, int n) {
  float mine[16];
  for (int j = 0; j < n; ++j) mine[j] = factors[j];
  out[index()] = mine[index() % n];
}
__global__ void device_variable(float* out) {
  out[index()] = variable[index()];
}
__global__ void atomics(int* out) {
  atomicAdd(out, 1);
  out[index() + 64] = atomicMax(out + index(), 3);
}

// More requests than wait for their lanes at a time: the lanes take turns. The second warp has one lane at
// work.
__global__ void long_loops(const float* in, float* out, int n) {
  if (threadIdx.x > 32) return;
  float sum = 0;
  for (int j = 0; j < n; ++j) sum += in[(j + threadIdx.x) % 1024];
  out[threadIdx.x] = sum;
}

// ---- control flow ----
__global__ void early_return(const float* in, float* out) {
  if (index() % 2) return;
  out[index()] = in[index()];
}
__global__ void two_ways(float* out, int n) {
  if (index() % 2) {
    out[index()] = 1;
  } else {
    out[n + index()] = 2;
  }
  if (threadIdx.x < 32) out[2 * n + index()] = 3;
}
__global__ void choice(const float* a, const float* b, float* out) {
  const int i = index();
  out[i] = i % 2 ? a[i] : b[i];
}
__global__ void both_conditions(const float* in, float* out, int n) {
  if (index() % 4 == 0 && in[index()] >= 0 && n) out[index()] = 1;
}
// One warp a block, a row a lane: the lanes leave the inner loop at different times and meet after it.
__global__ void csr_rows(const int* starts, const float* values, float* y, int rows) {
  for (int row = threadIdx.x; row < rows; row += 32) {
    float sum = 0;
    for (int j = starts[row]; j < starts[row + 1]; ++j) sum += values[j];
    y[row] = sum;
  }
}
__global__ void uneven_while(float* out) {
  int j = threadIdx.x % 32;
  while (j > 0) {
    out[j] = 1;
    j /= 2;
  }
  out[index()] = 2;
}
__global__ void leaves(float* out, int n) {
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      if (j == lane) continue;
      if (j == lane + 2) break;
      if (i == 3 && lane == 7) goto done;
      out[64 * i + j] = 1;
    }
    if (lane == 9) break;
  }
done:
  out[1024 + index()] = 2;
  do {
    out[2048 + index()] = 3;
  } while (--n > lane);
  if (lane == 11) return;
  switch (lane % 3) {
    case 0:
      out[4096 + index()] = 4;
      break;
    case 1:
      for (int i = 0; i < 2; ++i) out[5120 + index()] = 5;
    default:
      out[6144 + index()] = 6;
  }
}
__device__ __noinline__ float helper(const float* p, int i) {
  return p[i];
}
__global__ void calls_twice(const float* in, float* out) {
  out[index()] = helper(in, index()) + helper(in, index() + 32);
}
__device__ __noinline__ float4 four_of(float x) {
  return make_float4(x, x, x, x);
}
__global__ void returns_a_struct(const float* in, float* out) {
  reinterpret_cast<float4*>(out)[index()] = four_of(in[index()]);
}
template <int kTimes>
__global__ void unrolled(const float* in, float* out) {
  float sum = 0;
#pragma unroll
  for (int j = 0; j < kTimes; ++j) sum += in[j * 128 + index()];
  out[index()] = sum;
}

// ---- shared memory: one warp ----
template <class T, int kStride>
__device__ void through_shared(T* out) {
  __shared__ T words[32 * kStride];
  words[threadIdx.x * kStride] = T();
  __syncthreads();
  out[threadIdx.x] = words[(31 - threadIdx.x) * kStride];
}
__global__ void stride_1(float* out) {
  through_shared<float, 1>(out);
}
__global__ void stride_2(float* out) {
  through_shared<float, 2>(out);
}
__global__ void stride_32(float* out) {
  through_shared<float, 32>(out);
}
__global__ void stride_33(float* out) {
  through_shared<float, 33>(out);
}
__global__ void pairs(float2* out) {
  through_shared<float2, 1>(out);
}
__global__ void pairs_stride_2(float2* out) {
  through_shared<float2, 2>(out);
}
__global__ void quads(float4* out) {
  through_shared<float4, 1>(out);
}
__global__ void quads_stride_2(float4* out) {
  through_shared<float4, 2>(out);
}
__global__ void shared_broadcast(float* out, int which) {
  __shared__ float words[64];
  words[threadIdx.x] = 1;
  words[threadIdx.x + 32] = 2;
  __syncthreads();
  out[threadIdx.x] = words[which] + words[threadIdx.x % 2 * 32];
}
__global__ void dynamic(float* out, int n) {
  extern __shared__ float words[];
  for (int round = 0; round < n; ++round) {
    words[threadIdx.x] = 1;
    __syncthreads();
  }
  out[threadIdx.x] = words[31 - threadIdx.x];
}

template <class T>
T* buffer(size_t count) {
  T* p = nullptr;
  cudaMalloc(&p, count * sizeof(T));
  cudaMemset(p, 0, count * sizeof(T));
  return p;
}

// Each lane's word lies in another block of the cluster, at the same place: no two want one bank.
__global__ __cluster_dims__(4) void to_each_block(float* out) {
  __shared__ float from[4];
  cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  const unsigned rank = cluster.block_rank();
  cluster.sync();
  if (threadIdx.x < 4) *cluster.map_shared_rank(&from[rank], threadIdx.x) = rank;
  cluster.sync();
  out[index()] = from[threadIdx.x % 4];
}

// The shared read is the call's argument, not the element whose address it takes.
__global__ void flush(int* out) {
  __shared__ int part[64];
  part[threadIdx.x] = threadIdx.x;
  __syncthreads();
  atomicAdd(&out[threadIdx.x], part[threadIdx.x]);
}

int main() {
  float* a = buffer<float>(1 << 14);
  float* b = buffer<float>(1 << 14);
  coalesced<<<2, 64>>>(a, b);
  strided<<<2, 64>>>(a, b);
  offset_by_one<<<2, 64>>>(a, b);
  eight_bytes<<<2, 64>>>((float2*)a, (float2*)b);
  sixteen_bytes<<<2, 64>>>((float4*)a, (float4*)b);
  struct_of_32_bytes<<<2, 64>>>((Wide*)a, (Wide*)b);
  bytes<<<2, 64>>>((char*)a, (char*)b);
  tail<<<2, 64>>>(a, b, 100);
  broadcast<<<2, 64>>>(a, b);
  read_only<<<2, 64>>>(a, b);
  update<<<2, 64>>>(b);
  backwards<<<2, 64>>>(a, b);
  constants_and_locals<<<2, 64>>>(b, 8);
  device_variable<<<2, 64>>>(b);
  atomics<<<2, 64>>>((int*)b);
  long_loops<<<1, 64>>>(a, b, 20000);
  early_return<<<2, 64>>>(a, b);
  two_ways<<<2, 64>>>(b, 128);
  choice<<<2, 64>>>(a, a + 1024, b);
  both_conditions<<<2, 64>>>(a, b, 1);
  int starts[49] = {0};
  for (int row = 0; row < 48; ++row) starts[row + 1] = starts[row] + row % 5;
  int* device_starts = buffer<int>(49);
  cudaMemcpy(device_starts, starts, sizeof starts, cudaMemcpyHostToDevice);
  csr_rows<<<1, 32>>>(device_starts, a, b, 48);
  uneven_while<<<2, 64>>>(b);
  leaves<<<1, 32>>>(b, 4);
  calls_twice<<<2, 64>>>(a, b);
  returns_a_struct<<<2, 64>>>(a, b);
  unrolled<4><<<2, 64>>>(a, b);
  stride_1<<<1, 32>>>(b);
  stride_2<<<1, 32>>>(b);
  stride_32<<<1, 32>>>(b);
  stride_33<<<1, 32>>>(b);
  pairs<<<1, 32>>>((float2*)b);
  pairs_stride_2<<<1, 32>>>((float2*)b);
  quads<<<1, 32>>>((float4*)b);
  quads_stride_2<<<1, 32>>>((float4*)b);
  shared_broadcast<<<1, 32>>>(b, 5);
  dynamic<<<3, 32, 128>>>(b, 4);
  to_each_block<<<4, 32>>>(b);
  flush<<<1, 64>>>((int*)b);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
