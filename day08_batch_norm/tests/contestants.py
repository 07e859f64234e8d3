# SPDX-License-Identifier: MIT
"""PyTorch's batch norm by name: ATen's kernels, cuDNN's, and the compiler's; with channels before space, and last."""
from contestants import Skip

EPS, MOMENTUM = 1e-5, 0.1  # the ladder's


def images(problem, tensor, last=False):
    """(batch, channels, space, 1); with channels last, a view of that memory."""
    batch, channels, space = (problem.shape[name] for name in ("batch", "channels", "space"))
    return tensor.view(batch, space, 1, channels).permute(0, 3, 1, 2) if last else tensor.view(batch, channels, space, 1)


def forward(norm_of, last):
    """make() of a contestant: norm_of(torch) is a function like native_batch_norm."""
    def make(torch, problem):
        gamma, beta, running_mean, running_var, x = problem.inputs
        if problem.type != "fp32" and not x.is_cuda:
            raise Skip(f"on the CPU, PyTorch keeps mean and rstd in {problem.type}")
        x, norm, shape = images(problem, x, last), norm_of(torch, x), problem.outputs[4].shape

        def run():
            y, mean, rstd = norm(x, gamma, beta, running_mean, running_var, True, MOMENTUM, EPS)[:3]
            return mean, rstd, running_mean, running_var, (y.permute(0, 2, 3, 1) if last else y).reshape(shape)
        return run
    return make


def aten(torch, _):
    return torch.native_batch_norm


def cudnn(torch, x):
    if not x.is_cuda:
        raise Skip("cuDNN needs a GPU")
    return torch.ops.aten.cudnn_batch_norm


def compiled(torch, _):
    return torch.compile(lambda *given: torch.native_batch_norm(*given))  # pylint: disable=unnecessary-lambda


def backward_inputs(problem):
    """(dy, x, gamma, mean, rstd)."""
    x, dy, gamma, mean, rstd = problem.inputs
    if problem.type != "fp32" and not x.is_cuda:
        raise Skip(f"on the CPU, PyTorch takes mean and rstd in {problem.type}")
    return images(problem, dy), images(problem, x), gamma, mean, rstd


def gradient(torch, dy, x, gamma, mean, rstd):
    return torch.ops.aten.native_batch_norm_backward(dy, x, gamma, None, None, mean, rstd, True, EPS, [True, True, True])


def backward(torch, problem):
    inputs = backward_inputs(problem)
    return lambda: as_the_ladder(problem, gradient(torch, *inputs))


def compiled_backward(torch, problem):
    inputs = backward_inputs(problem)
    compiled_gradient = torch.compile(lambda *given: gradient(torch, *given))
    return lambda: as_the_ladder(problem, compiled_gradient(*inputs))


def cudnn_backward(torch, problem):
    dy, x, gamma, mean, rstd = backward_inputs(problem)
    if not x.is_cuda:
        raise Skip("cuDNN needs a GPU")
    reserve = torch.empty(0, dtype=torch.uint8, device=x.device)
    return lambda: as_the_ladder(problem, torch.ops.aten.cudnn_batch_norm_backward(x, dy, gamma, None, None, mean, rstd, EPS, reserve))


def as_the_ladder(problem, result):
    dx, dgamma, dbeta = result
    return dx.reshape(problem.outputs[0].shape), dgamma, dbeta


CONTESTANTS = [(ladder, name, forward(norm_of, ladder == "batch_norm_last")) for ladder in ("batch_norm", "batch_norm_last")
               for name, norm_of in (("ATen", aten), ("cuDNN", cudnn), ("torch.compile", compiled))]
CONTESTANTS += [("batch_norm_backward", "ATen", backward), ("batch_norm_backward", "cuDNN", cudnn_backward),
                ("batch_norm_backward", "torch.compile", compiled_backward)]
