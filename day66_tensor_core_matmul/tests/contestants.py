# SPDX-License-Identifier: MIT
"""PyTorch's matrix products: halves, floats with and without TF32 (each says which, and asks nobody's default)."""

SHAPES = {ladder: [[1, 8, 8], [65, 72, 40], [64, 256, 128]] for ladder in ("half", "tf32", "fp32", "linear")}


def operands(problem):
    s = problem.shape
    a, b = problem.inputs
    return a.view(s["m"], s["k"]), b


def matmul(torch, problem):
    a, b = operands(problem)
    b, c = b.view(problem.shape["k"], problem.shape["n"]), problem.outputs[0].view(problem.shape["m"], problem.shape["n"])

    def run():
        torch.matmul(a, b, out=c)
    return run


def floats(precision):
    """torch.matmul of fp32 with TF32 allowed ("high") or not ("highest")."""
    def make(torch, problem):
        run = matmul(torch, problem)

        def with_precision():
            torch.set_float32_matmul_precision(precision)
            run()
        return with_precision
    return make


def layer(torch, problem):
    s = problem.shape
    a, b, bias = problem.inputs
    a, b = a.view(s["m"], s["k"]), b.view(s["k"], s["n"])
    return lambda: [torch.relu(torch.addmm(bias, a, b)).view(problem.outputs[0].shape)]


CONTESTANTS = [("half", "torch.matmul", matmul), ("tf32", "torch TF32", floats("high")), ("fp32", "torch fp32", floats("highest")),
               ("linear", "torch addmm, relu", layer)]
