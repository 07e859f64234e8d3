# SPDX-License-Identifier: MIT
"""PyTorch's batch norm: cuDNN's or its own for channels side by side, on the matrix, and compiled."""


def _normed(torch, problem, given, back):
    x, gamma, beta, running_mean, running_var, eps, momentum = problem.inputs

    def body(x):
        y, mean, rstd = torch.native_batch_norm(given(x), gamma, beta, running_mean, running_var, True, momentum, eps)
        return back(y), mean, rstd, running_mean, running_var
    return body


def matrix(torch, problem):
    body = _normed(torch, problem, lambda x: x, lambda y: y)
    return lambda: body(problem.inputs[0])


def channels_last(torch, problem):
    """A picture of one column, whose memory is the matrix: the layout by which PyTorch chooses its kernel."""
    rows, cols = problem.inputs[0].shape
    body = _normed(torch, problem, lambda x: x.as_strided((1, cols, rows, 1), (rows * cols, 1, cols, cols)),
                   lambda y: y.permute(0, 2, 3, 1).reshape(rows, cols))
    return lambda: body(problem.inputs[0])


def compiled(torch, problem):
    body = torch.compile(_normed(torch, problem, lambda x: x, lambda y: y))
    return lambda: body(problem.inputs[0])


CONTESTANTS = [("batch_norm", "torch", channels_last), ("batch_norm", "torch, matrix", matrix), ("batch_norm", "torch.compile", compiled)]
