# SPDX-License-Identifier: MIT
"""Changed since staged: a descriptor says once where a matrix lies, how large it is and how large a tile of it. A load names two indices,
and no thread computes an address or a mask: what lies beyond the matrix comes as 0 and is not stored. From compute capability 9.0 one
thread asks the copy engine for a whole tile. A row must begin at a multiple of 16 bytes.
"""
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from python_days import needs

ROWS, COLS, DEPTH, GROUP, STAGES = 64, 64, 32, 8, 3


@triton.jit
def descriptors_kernel(a, b, c, m, n, k, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr, GROUP: tl.constexpr):
    tiles_down, tiles_along = tl.cdiv(m, ROWS), tl.cdiv(n, COLS)
    first_row = tl.program_id(0) // (GROUP * tiles_along) * GROUP  # of the group
    rows = min(tiles_down - first_row, GROUP)
    place = tl.program_id(0) % (GROUP * tiles_along)  # in the group
    row, col = (first_row + place % rows) * ROWS, place // rows * COLS  # numbers, of the tile's corner
    total = tl.zeros((ROWS, COLS), tl.float32)
    for first in range(0, k, DEPTH):
        total = tl.dot(a.load([row, first]), b.load([first, col]), total, input_precision="ieee")
    c.store([row, col], total.to(c.dtype))


def launch(a, b, c):
    needs.product(a=a, b=b, c=c)
    (m, k), n = a.shape, b.shape[1]
    if not min(m, n, k):
        raise ValueError(f"an extent is 0 ({m} x {n} x {k}), and a descriptor describes at least one element")
    for name, pitch in (("a", k), ("b", n)):
        if pitch * a.element_size() % 16:
            raise ValueError(f"a row of {name} has {pitch * a.element_size()} bytes, and a descriptor wants a multiple of 16")
    if any(tensor.data_ptr() % 16 for tensor in (a, b, c)):
        raise ValueError("a, b or c begins where 16 does not divide its address, and a descriptor wants that")
    tiles = [TensorDescriptor.from_tensor(tensor, tile) for tensor, tile in ((a, [ROWS, DEPTH]), (b, [DEPTH, COLS]), (c, [ROWS, COLS]))]
    grid = (triton.cdiv(m, ROWS) * triton.cdiv(n, COLS),)
    descriptors_kernel[grid](*tiles, m, n, k, ROWS=ROWS, COLS=COLS, DEPTH=DEPTH, GROUP=GROUP, num_stages=STAGES)
