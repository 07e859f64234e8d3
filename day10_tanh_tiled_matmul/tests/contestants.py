# SPDX-License-Identifier: MIT
"""tanh of a product, and the layer, in PyTorch: eager, where each operation is a kernel, and compiled, where what follows the
product is one; and in Triton, where it is the product's epilogue. Products are in fp32 without TF32."""


def matrices(torch, problem):
    torch.backends.cuda.matmul.allow_tf32 = False
    m, n, k = (problem.shape[name] for name in "mnk")
    a, b, *more = problem.inputs
    return [a.view(m, k), b.view(k, n), *([more[0].view(n), more[1].view(m, n)] if more else [])]


def elements(torch, problem):
    x = problem.inputs[0]
    return lambda: torch.tanh(x)


def tanh_matmul(torch, problem):
    a, b = matrices(torch, problem)
    return lambda: torch.tanh(a @ b)


def compiled_tanh_matmul(torch, problem):
    a, b = matrices(torch, problem)
    function = torch.compile(lambda a, b: torch.tanh(a @ b))
    return lambda: function(a, b)


def layer(torch, problem):
    a, b, bias, residual = matrices(torch, problem)
    return lambda: torch.tanh(torch.addmm(bias, a, b)) + residual


def compiled_layer(torch, problem):
    inputs = matrices(torch, problem)
    function = torch.compile(lambda a, b, bias, residual: torch.tanh(torch.addmm(bias, a, b)) + residual)
    return lambda: function(*inputs)


def in_triton(torch, problem):
    import triton  # pylint: disable=import-outside-toplevel
    import triton.language as tl  # pylint: disable=import-outside-toplevel
    from triton.language.extra import libdevice  # pylint: disable=import-outside-toplevel

    @triton.jit
    def kernel(a, b, bias, residual, c, m, n, k, LAYER: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
        rows = (tl.program_id(0) * M + tl.arange(0, M)).to(tl.int64)[:, None]
        cols = (tl.program_id(1) * N + tl.arange(0, N)).to(tl.int64)[None, :]
        inside = (rows < m) & (cols < n)
        sums = tl.zeros((M, N), tl.float32)
        for step in range(0, k, K):
            i = step + tl.arange(0, K).to(tl.int64)
            left = tl.load(a + rows * k + i[None, :], mask=(rows < m) & (i[None, :] < k), other=0.0)
            right = tl.load(b + i[:, None] * n + cols, mask=(i[:, None] < k) & (cols < n), other=0.0)
            sums = tl.dot(left, right, sums, input_precision="ieee")
        if LAYER:
            sums += tl.load(bias + cols, mask=cols < n, other=0.0)
        sums = libdevice.tanh(sums)
        if LAYER:
            sums += tl.load(residual + rows * n + cols, mask=inside, other=0.0)
        tl.store(c + rows * n + cols, sums, mask=inside)

    a, b, *more = matrices(torch, problem)
    bias, residual = more or (a, a)  # not read
    m, n, k = (problem.shape[name] for name in "mnk")

    def run():
        c = torch.empty((m, n), dtype=a.dtype, device=a.device)
        kernel[(triton.cdiv(m, 64), triton.cdiv(n, 64))](a, b, bias, residual, c, m, n, k, bool(more), 64, 64, 16)
        return c
    return run


CONTESTANTS = [("tanh", "torch", elements), ("tanh_matmul", "torch", tanh_matmul), ("tanh_matmul", "torch.compile", compiled_tanh_matmul),
               ("tanh_matmul", "Triton", in_triton), ("layer", "torch", layer), ("layer", "torch.compile", compiled_layer),
               ("layer", "Triton", in_triton)]
