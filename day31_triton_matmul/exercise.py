# SPDX-License-Identifier: MIT
"""C = A B by tiles, in an order of programs that lets those which run at the same time share what they load.

    ./days check 31     how far you are
    ./days hint 31      the next of three hints

A is (m, k), B is (k, n), C is (m, n), each row by row without gaps; elements are fp16, bf16 or fp32, and extents are what they like. The sum is
kept in fp32, and fp32 is multiplied with all its digits. Programs start in the order of their numbers, and 16 run at a time.

  1. Which tile of C is this program's? Begin with row by row of tiles: that is right, and the last gate refuses it.
  2. Along k, DEPTH at a time: load a tile of A and one of B, and let tl.dot add their product to a sum.
  3. Store the tile. Then come back to 1: number the programs so that 16 in a row want few different tiles of A and B.
"""
import triton
import triton.language as tl

from python_days import needs

ROWS, COLS, DEPTH, GROUP = 64, 64, 32, 8


@triton.jit
def exercise_kernel(a_ptr, b_ptr, c_ptr, m, n, k, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr, GROUP: tl.constexpr):
    tiles_down, tiles_along = tl.cdiv(m, ROWS), tl.cdiv(n, COLS)
    # your code


def launch(a, b, c):
    needs.product(a=a, b=b, c=c)
    (m, k), n = a.shape, b.shape[1]
    grid = (triton.cdiv(m, ROWS) * triton.cdiv(n, COLS),)
    exercise_kernel[grid](a, b, c, m, n, k, ROWS=ROWS, COLS=COLS, DEPTH=DEPTH, GROUP=GROUP, num_stages=1)
