# SPDX-License-Identifier: MIT
"""Gray and Scott's reaction in PyTorch, eager and compiled: each step makes new arrays, so its buffering is the allocator's."""
FEED, KILL, SPREAD_U, SPREAD_V = 0.037, 0.06, 0.16, 0.08  # the ladder's


def around(torch, x):
    return (torch.roll(x, 1, 1) + torch.roll(x, -1, 1)) + (torch.roll(x, 1, 0) + torch.roll(x, -1, 0))


def step(torch, u, v):
    eaten = u * v * v
    return (u + SPREAD_U * (around(torch, u) - 4 * u) - eaten + FEED * (1 - u),
            v + SPREAD_V * (around(torch, v) - 4 * v) + eaten - (FEED + KILL) * v)


def contestant(compiled):
    def make(torch, problem):
        u, v = (x.view(problem.shape["height"], problem.shape["width"]) for x in problem.inputs)
        once = (lambda u, v: step(torch, u, v))
        if compiled:
            once = torch.compile(once)

        def run():
            now = u, v
            for _ in range(problem.shape["steps"]):
                now = once(*now)
            return now
        return run
    return make


CONTESTANTS = [("gray_scott", "torch", contestant(False)), ("gray_scott", "torch.compile", contestant(True))]
