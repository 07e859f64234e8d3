# SPDX-License-Identifier: MIT
"""The same in eager PyTorch, a kernel for each step. torch.compile is not here: its quotients are rounded less exactly than the ladder asks."""


def eager(torch, problem):
    x = problem.inputs[0].view(problem.shape["samples"], problem.shape["features"])

    def scale():
        most = x.abs().amax(0)
        return (x / torch.where(most > 0, most, 1)).t().contiguous().view(problem.outputs[0].shape), most
    return scale


CONTESTANTS = [("columns", "torch", eager)]
