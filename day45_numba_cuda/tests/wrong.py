# SPDX-License-Identifier: MIT
"""Wrong kernels of day 45, each as short as its bug, with what must be said of it."""
from day45_numba_cuda.ladder import cuda_matmul, numba_matmul
from python_days import must_reject
from python_days.numba_here import cuda, float32
from python_days.raw_kernel import RawKernel

TILE = 16


def _grid(c):
    m, n = c.shape
    return ((n + TILE - 1) // TILE, (m + TILE - 1) // TILE), (TILE, TILE)


@cuda.jit
def tiled_kernel(a, b, c, first_barrier, second_barrier, divergent):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    if divergent and (row >= c.shape[0] or col >= c.shape[1]):
        return
    for first in range(0, a.shape[1], TILE):
        a_tile[y, x] = a[row, first + x] if row < a.shape[0] and first + x < a.shape[1] else 0
        b_tile[y, x] = b[first + y, col] if first + y < b.shape[0] and col < b.shape[1] else 0
        if first_barrier:
            cuda.syncthreads()
        for i in range(TILE):
            total += a_tile[y, i] * b_tile[i, x]
        if second_barrier:
            cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


@must_reject(numba_matmul, "and nobody has written it")
def no_first_barrier(a, b, c):
    tiled_kernel[_grid(c)](a, b, c, False, True, False)


@must_reject(numba_matmul, "without a barrier between them")
def no_second_barrier(a, b, c):
    tiled_kernel[_grid(c)](a, b, c, True, False, False)


@must_reject(numba_matmul, "reach a barrier that the others do not")
def threads_that_leave(a, b, c):
    tiled_kernel[_grid(c)](a, b, c, True, True, True)


@cuda.jit
def unguarded_kernel(a, b, c):
    col, row = cuda.grid(2)
    total = 0.0
    for i in range(a.shape[1]):
        total += a[row, i] * b[i, col]
    c[row, col] = total


@must_reject(numba_matmul, "is out of bounds for axis")
def no_guard(a, b, c):
    unguarded_kernel[_grid(c)](a, b, c)


@cuda.jit
def one_line_kernel(a, b, c):
    tiles = [cuda.shared.array((TILE, TILE), float32) for _ in range(2)]
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = tiles[0].shape[0] * 0


@must_reject(numba_matmul, "makes two shared arrays, which are one to the simulator")
def two_arrays_on_a_line(a, b, c):
    one_line_kernel[_grid(c)](a, b, c)


@cuda.jit
def one_for_all_kernel(a, b, c):
    """Each thread has one term of each sum, and all add to one element."""
    i = cuda.threadIdx.x
    for row in range(c.shape[0]):
        for col in range(c.shape[1]):
            if i == 0:
                c[row, col] = 0
            cuda.syncthreads()
            for k in range(i, a.shape[1], TILE):
                c[row, col] += a[row, k] * b[k, col]


@must_reject(numba_matmul, "without a barrier between them")
def sums_that_are_not_atomic(a, b, c):
    one_for_all_kernel[1, TILE](a, b, c)


_SOURCE = r"""
extern "C" __global__ void wrong_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float a_tile[16][16];
  __shared__ float b_tile[16][16];
  const int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float total = 0;
  for (int first = 0; first < k; first += 16) {
    a_tile[y][x] = row < m && first + x < k ? a[(size_t)row * k + first + x] : 0;
    b_tile[y][x] = first + y < k && col < n ? b[(size_t)(first + y) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) total += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  if (row < m && col < n) c[(size_t)row * n + col] = total;
}
"""


def _wrong(old, new):
    assert _SOURCE.count(old) == 1, old
    return RawKernel(_SOURCE.replace(old, new), "wrong_kernel")


_NO_BARRIER = _wrong("total += a_tile[y][i] * b_tile[i][x];\n    __syncthreads();", "total += a_tile[y][i] * b_tile[i][x];")
_NO_GUARD = _wrong("if (row < m && col < n) c", "c")
_NO_LAST = _wrong("first < k;", "first + 16 <= k;")
_TYPO = _wrong("float total = 0;", "float totall = 0;")


def _launch(kernel, a, b, c):
    import numpy
    m, n, k = (numpy.int32(extent) for extent in (*c.shape, a.shape[1]))
    kernel(*_grid(c), (a, b, c, m, n, k))


@must_reject(cuda_matmul, "race")
def raw_without_a_barrier(a, b, c):
    _launch(_NO_BARRIER, a, b, c)


@must_reject(cuda_matmul, "out of bounds on global memory")
def raw_without_a_guard(a, b, c):
    _launch(_NO_GUARD, a, b, c)


@must_reject(cuda_matmul, "elements are wrong")
def raw_without_the_last_tile(a, b, c):
    _launch(_NO_LAST, a, b, c)


@must_reject(cuda_matmul, "does not compile")
def raw_that_does_not_compile(a, b, c):
    _launch(_TYPO, a, b, c)
