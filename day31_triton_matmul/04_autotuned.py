# SPDX-License-Identifier: MIT
"""Changed since staged: the numbers are searched. The first launch with a new m, n, k or type tries a list of configurations on the
arguments themselves, keeps the fastest, and with cache_results writes down what it found, for the next process. What cannot win is
not tried: tiles that are much larger than the matrix.
"""
import triton
import triton.language as tl

from python_days import needs

GROUP = 8
CONFIGS = [triton.Config({"ROWS": rows, "COLS": cols, "DEPTH": depth}, num_stages=stages, num_warps=warps)
           for rows, cols, depth, stages, warps in ((64, 64, 32, 3, 4), (64, 128, 32, 4, 4), (128, 128, 32, 4, 8), (128, 256, 64, 3, 8))]


def worth_trying(configs, arguments, **_):
    """Those whose tile fits into the matrix, and the first in any case. A step of fp32 that is as deep as 64 leaves no room for stages."""
    m, n, size = arguments["m"], arguments["n"], arguments["a_ptr"].element_size()
    small = [config for config in configs[1:] if config.kwargs["ROWS"] <= m and config.kwargs["COLS"] <= n
             and config.kwargs["DEPTH"] * size <= 128]
    return [configs[0], *small]


@triton.autotune(CONFIGS, key=["m", "n", "k"], prune_configs_by={"early_config_prune": worth_trying}, cache_results=True)
@triton.jit
def autotuned_kernel(a_ptr, b_ptr, c_ptr, m, n, k, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr, GROUP: tl.constexpr):
    tiles_down, tiles_along = tl.cdiv(m, ROWS), tl.cdiv(n, COLS)
    first_row = tl.program_id(0) // (GROUP * tiles_along) * GROUP  # of the group
    rows = min(tiles_down - first_row, GROUP)
    place = tl.program_id(0) % (GROUP * tiles_along)  # in the group
    row = (first_row + place % rows) * ROWS + tl.arange(0, ROWS)[:, None]  # (ROWS, 1)
    col = place // rows * COLS + tl.arange(0, COLS)[None, :]  # (1, COLS)
    total = tl.zeros((ROWS, COLS), tl.float32)
    for first in range(0, k, DEPTH):
        along, down = first + tl.arange(0, DEPTH)[None, :], first + tl.arange(0, DEPTH)[:, None]
        a = tl.load(a_ptr + row.to(tl.int64) * k + along, mask=(row < m) & (along < k), other=0.0)  # (ROWS, DEPTH)
        b = tl.load(b_ptr + down.to(tl.int64) * n + col, mask=(down < k) & (col < n), other=0.0)  # (DEPTH, COLS)
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(c_ptr + row.to(tl.int64) * n + col, total, mask=(row < m) & (col < n))


def launch(a, b, c):
    needs.product(a=a, b=b, c=c)
    (m, k), n = a.shape, b.shape[1]

    def grid(config):
        return (triton.cdiv(m, config["ROWS"]) * triton.cdiv(n, config["COLS"]),)
    autotuned_kernel[grid](a, b, c, m, n, k, GROUP=GROUP)
