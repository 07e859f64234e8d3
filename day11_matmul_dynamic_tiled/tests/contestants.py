# SPDX-License-Identifier: MIT
"""The product in PyTorch, and tiled in Triton, in fp32 without TF32.

Triton's kernel is the tutorial's, without its order of blocks: a program makes a tile of 128 x 64, and `tl.dot` with full
precision. Its tile lies in shared memory as ours does, its sums in registers.
"""


def matrices(torch, problem):
    torch.backends.cuda.matmul.allow_tf32 = False
    shape = problem.shape
    return problem.inputs[0].view(shape["m"], shape["k"]), problem.inputs[1].view(shape["k"], shape["n"])


def eager(torch, problem):
    a, b = matrices(torch, problem)
    return lambda: a @ b


def in_triton(torch, problem):
    import triton  # pylint: disable=import-outside-toplevel
    import triton.language as tl  # pylint: disable=import-outside-toplevel

    @triton.jit
    def kernel(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
        rows = (tl.program_id(0) * M + tl.arange(0, M)).to(tl.int64)[:, None]
        cols = (tl.program_id(1) * N + tl.arange(0, N)).to(tl.int64)[None, :]
        depth = tl.arange(0, K).to(tl.int64)
        sums = tl.zeros((M, N), tl.float32)
        for step in range(0, k, K):
            i = step + depth
            left = tl.load(a + rows * k + i[None, :], mask=(rows < m) & (i[None, :] < k), other=0.0)
            right = tl.load(b + i[:, None] * n + cols, mask=(i[:, None] < k) & (cols < n), other=0.0)
            sums = tl.dot(left, right, sums, input_precision="ieee")
        tl.store(c + rows * n + cols, sums, mask=(rows < m) & (cols < n))

    a, b = matrices(torch, problem)
    m, n, k = problem.shape["m"], problem.shape["n"], problem.shape["k"]

    def run():
        c = torch.empty((m, n), dtype=a.dtype, device=a.device)
        kernel[(triton.cdiv(m, 128), triton.cdiv(n, 64))](a, b, c, m, n, k, 128, 64, 32)
        return c
    return run


CONTESTANTS = [("matmul", "torch", eager), ("matmul", "Triton", in_triton)]
