# SPDX-License-Identifier: MIT
"""PyTorch's transposes and copies. `t()` alone is a view and moves nothing; `contiguous()` and `copy_` do the work."""


def matrix(problem):
    return problem.inputs[0].view(problem.shape["rows"], problem.shape["cols"])


def eager(torch, problem):
    m = matrix(problem)
    return lambda: m.t().contiguous().view(problem.outputs[0].shape)


def into(torch, problem):
    turned, out = matrix(problem).t(), problem.outputs[0]

    def copy():
        out.copy_(turned)
    return copy


def compiled(torch, problem):
    m, turn = matrix(problem), torch.compile(lambda x: x.t().contiguous())
    return lambda: turn(m)


def copy(torch, problem):
    m, out = matrix(problem), problem.outputs[0]

    def into_out():
        out.copy_(m)
    return into_out


CONTESTANTS = [("transpose", "torch", eager), ("transpose", "torch copy_", into), ("transpose", "torch.compile", compiled),
               ("copy", "torch copy_", copy)]
