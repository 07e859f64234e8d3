# SPDX-License-Identifier: MIT
"""The backward of PyTorch's RMS norm by autograd, as it is and compiled, and Liger's where it is installed."""


def gradients(torch, problem, norm):
    """A backward of x and w, of a graph that was made once."""
    dy, x, w, _ = problem.inputs
    x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
    y = norm(x, w)
    return lambda: torch.autograd.grad(y, (x, w), dy, retain_graph=True)


def backward(compiled):
    def make(torch, problem):
        norm = lambda x, w: torch.nn.functional.rms_norm(x, (x.shape[1],), w, 1e-6)  # noqa: E731
        return gradients(torch, problem, torch.compile(norm) if compiled else norm)
    return make


def liger_backward(torch, problem):
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction  # pylint: disable=import-outside-toplevel
    return gradients(torch, problem, lambda x, w: LigerRMSNormFunction.apply(x, w, 1e-6, 0.0, "gemma", False))


CONTESTANTS = [("rms_norm_backward", "torch", backward(False)), ("rms_norm_backward", "torch.compile", backward(True)),
               ("rms_norm_backward", "Liger", liger_backward)]
