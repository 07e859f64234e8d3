# SPDX-License-Identifier: MIT
"""The same tiles, as CUDA C++ in a text that Python holds. CuPy gives it to NVIDIA's compiler when it is first launched; so the text may
have been written for this launch, as TILE is set into it here.
"""
from python_days import needs
from python_days.raw_kernel import RawKernel

TILE = 16
SOURCE = r"""
extern "C" __global__ void raw_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float a_tile[TILE][TILE];
  __shared__ float b_tile[TILE][TILE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int col = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
  float total = 0;
  for (int first = 0; first < k; first += TILE) {
    a_tile[y][x] = row < m && first + x < k ? a[(size_t)row * k + first + x] : 0;
    b_tile[y][x] = first + y < k && col < n ? b[(size_t)(first + y) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) total += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  if (row < m && col < n) c[(size_t)row * n + col] = total;
}
""".replace("TILE", str(TILE))
KERNEL = RawKernel(SOURCE, "raw_kernel")


def launch(a, b, c):
    needs.matmul(a, b, c)
    m, n, k = c.shape[0], c.shape[1], a.shape[1]
    KERNEL(((n + TILE - 1) // TILE, (m + TILE - 1) // TILE), (TILE, TILE), (a, b, c, needs.int32(m), needs.int32(n), needs.int32(k)))
