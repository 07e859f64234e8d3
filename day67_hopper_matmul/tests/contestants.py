# SPDX-License-Identifier: MIT
"""PyTorch's matrix products, which are cuBLAS' own choice of a kernel: of halves, and of 8-bit floats with sums that stay in the tensor
cores (fast) or are added to floats now and then."""
from contestants import Skip

SHAPES = {"half": [[1, 8, 8], [65, 72, 40], [64, 256, 128]], "fp8": [[16, 16, 16], [80, 64, 144]]}


def matmul(torch, problem):
    m, n, k = (problem.shape[extent] for extent in ("m", "n", "k"))
    a, b = problem.inputs
    a, b, c = a.view(m, k), b.view(k, n), problem.outputs[0].view(m, n)
    return lambda: torch.matmul(a, b, out=c)


def scaled(fast):
    def make(torch, problem):
        if problem.type != "fp8_e4m3":
            raise Skip("cuBLAS has no product of two matrices of e5m2")
        m, n, k = (problem.shape[extent] for extent in ("m", "n", "k"))
        if n % 16 or k % 16:
            raise Skip("torch._scaled_mm wants n and k that are multiples of 16")
        a, b = problem.inputs
        a, b, c = a.view(m, k), b.view(n, k).t(), problem.outputs[0].view(m, n)
        one = torch.ones((), device=a.device)
        return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=fast, out=c)
    return make


CONTESTANTS = [("half", "torch.matmul", matmul), ("fp8", "torch fp8", scaled(False)), ("fp8", "torch fp8 fast", scaled(True))]
