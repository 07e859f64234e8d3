# SPDX-License-Identifier: MIT
"""PyTorch's convolution with the star as a kernel of 9 x 9, the sum compiled, and Triton's: a program a tile, which reads through the
caches."""
from contestants import Skip

SHAPES = {"stencil": [[1, 1, 1], [3, 7, 2], [67, 251, 1]]}
WEIGHTS = [-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560]


def field(problem):
    return problem.inputs[0].view(problem.shape["rows"], problem.shape["cols"])


def star(torch, problem):
    weight = torch.zeros(1, 1, 9, 9, device=problem.inputs[0].device)
    for k, value in enumerate(WEIGHTS):
        for at in {4 - k, 4 + k}:
            weight[0, 0, at, 4] += value
            weight[0, 0, 4, at] += value
    return weight


def eager(torch, problem):
    x, weight = field(problem)[None, None], star(torch, problem)

    def convolve():
        with torch.backends.cudnn.flags(allow_tf32=False):  # ten bits of fraction would not do
            return torch.nn.functional.conv2d(x, weight, padding=4).view(problem.outputs[0].shape)
    return convolve


def compiled(torch, problem):
    x, rows, cols = field(problem), problem.shape["rows"], problem.shape["cols"]

    @torch.compile
    def laplacian(x):
        wide = torch.nn.functional.pad(x, (4, 4, 4, 4))
        at = lambda r, c: wide[4 + r:4 + r + rows, 4 + c:4 + c + cols]
        total = 2 * WEIGHTS[0] * x
        for k in range(1, 5):
            total = total + WEIGHTS[k] * (at(-k, 0) + at(k, 0) + at(0, -k) + at(0, k))
        return total
    return lambda: laplacian(x).view(problem.outputs[0].shape)


def triton_tiles(torch, problem):
    if not problem.inputs[0].is_cuda:
        raise Skip("Triton needs a GPU")
    import triton
    import triton.language as tl

    @triton.jit
    def kernel(x, out, rows, cols, W0: tl.constexpr, W1: tl.constexpr, W2: tl.constexpr, W3: tl.constexpr, W4: tl.constexpr,
               ROWS: tl.constexpr, COLS: tl.constexpr):
        r = (tl.program_id(1) * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
        c = (tl.program_id(0) * COLS + tl.arange(0, COLS)).to(tl.int64)[None, :]
        inside = (r < rows) & (c < cols)
        at = x + r * cols + c
        total = 2 * W0 * tl.load(at, mask=inside, other=0.0)
        for k in tl.static_range(1, 5):
            weight = W1 if k == 1 else W2 if k == 2 else W3 if k == 3 else W4
            total += weight * (tl.load(at - k * cols, mask=inside & (r >= k), other=0.0)
                               + tl.load(at + k * cols, mask=inside & (r + k < rows), other=0.0)
                               + tl.load(at - k, mask=inside & (c >= k), other=0.0)
                               + tl.load(at + k, mask=inside & (c + k < cols), other=0.0))
        tl.store(out + r * cols + c, total, mask=inside)

    rows, cols, out = problem.shape["rows"], problem.shape["cols"], problem.outputs[0]
    grid = (triton.cdiv(cols, 256), triton.cdiv(rows, 8))

    def launch():  # writes the result itself
        kernel[grid](problem.inputs[0], out, rows, cols, *WEIGHTS, ROWS=8, COLS=256)
    return launch


CONTESTANTS = [("stencil", "torch conv2d", eager), ("stencil", "torch.compile", compiled), ("stencil", "Triton", triton_tiles)]
