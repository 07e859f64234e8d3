# SPDX-License-Identifier: MIT
"""PyTorch's product, by cuBLAS, in fp32 and not in TF32."""


def matmul(torch, problem):
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = problem.inputs
    out, = problem.outputs

    def body():
        torch.matmul(a, b, out=out)
    return body


CONTESTANTS = [("matmul", "torch", matmul), ("matmul_cuda", "torch", matmul)]
