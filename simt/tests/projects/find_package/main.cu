// SPDX-License-Identifier: MIT
bool done();

__global__ void count(int* p) {
  p[threadIdx.x] = static_cast<int>(threadIdx.x);
}

int main() {
  int* p = nullptr;
  cudaMallocManaged(&p, 32 * sizeof(int));
  count<<<1, 32>>>(p);
  return !done() || p[31] != 31;
}
