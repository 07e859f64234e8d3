# SPDX-License-Identifier: MIT
"""Two convolutions by PyTorch, one along the rows and one along the columns, and what its compiler makes of shifted sums."""


def convolutions(torch, problem):
    x, w = problem.inputs
    radius = w.numel() // 2
    across, down = w.to(x.dtype).view(1, 1, 1, -1), w.to(x.dtype).view(1, 1, -1, 1)

    def body():
        wide = torch.nn.functional.pad(x[:, None], (radius,) * 4, mode="replicate")
        return torch.nn.functional.conv2d(torch.nn.functional.conv2d(wide, across), down)[:, 0]
    return body


def compiled(torch, problem):
    x, w = problem.inputs
    taps, radius = w.numel(), w.numel() // 2

    def body():
        wide = torch.nn.functional.pad(x[:, None].float(), (radius,) * 4, mode="replicate")[:, 0]
        along = sum(w[j] * wide[:, :, j:j + x.shape[2]] for j in range(taps))
        return sum(w[i] * along[:, i:i + x.shape[1]] for i in range(taps)).to(x.dtype)
    return torch.compile(body)


CONTESTANTS = [("gaussian_blur", "torch", convolutions), ("gaussian_blur", "torch.compile", compiled)]
