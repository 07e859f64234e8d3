// SPDX-License-Identifier: MIT
//
// cudaMemset() without a stream goes into the default stream, and does not wait. Streams made by
// cudaStreamCreate() wait for the default stream; one that is non-blocking does not, and its kernel is early.
// plain: [simt-stream-order]
// plain: cudaMemset writes it too, in another stream
// checked: [simt-stream-order]
#include <cuda_runtime.h>

#include <cstdio>

int main() {
  int *x, *y;
  cudaMalloc(&x, 32 * sizeof(int));
  cudaMallocHost(&y, 32 * sizeof(int));
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMemset(x, 0, 32 * sizeof(int));
  cudaMemcpyAsync(y, x, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream);  // what does y hold?
  cudaStreamSynchronize(stream);
  std::printf("y[0] is %d, expected 0\n", y[0]);
  return y[0] == 0 ? 0 : 1;
}
