# SPDX-License-Identifier: MIT
"""Each rung as it is and compiled: the same results, and how long a call takes.

    build/python/bin/python3 day72_torch_compile/programs/rungs.py [--times]"""
import sys

sys.dont_write_bytecode = True
sys.path[:0] = ["tools", "day72_torch_compile"]  # from the clone's folder
import code_of  # noqa: E402
import torch  # noqa: E402
import torch._dynamo  # noqa: E402
from clock import DEVICE, milliseconds  # noqa: E402

TIMED = "--times" in sys.argv
SIZES = {"block": (2048, 1024), "layer": (512, 512), "momentum": (1 << 22,)} if TIMED else {"momentum": (257,)}  # each takes seconds to compile


def normal(*extents):
    return torch.randn(*extents, device=DEVICE)


def inputs(problem):
    size = SIZES[problem]
    if problem == "block":
        return [normal(*size), normal(size[1]), normal(size[1])]
    if problem == "layer":
        return [normal(*size), normal(size[1], 3 * size[1]) / size[1] ** 0.5]
    return [*(normal(*size) for _ in range(3)), torch.tensor([1], device=DEVICE), 1]


def main():
    for problem, rungs in (("block", ("item", "whole")), ("layer", ("three", "one")), ("momentum", ("tensor", "in_place"))):
        if problem not in SIZES:
            continue
        given = inputs(problem)
        for name in rungs:
            torch._dynamo.reset()
            launch = code_of.rung(name)
            compiled = torch.compile(launch)
            once, again = ([one.clone() if hasattr(one, "clone") else one for one in given] for _ in range(2))
            torch.testing.assert_close(compiled(*once), launch(*again), rtol=1e-4, atol=1e-4)
            times = [f"{milliseconds(function, *given):8.2f} ms" for function in (launch, compiled)] if TIMED else ["right", "right"]
            print(f"{problem:9} {name:9} as it is {times[0]}   compiled {times[1]}" + (f"   on {DEVICE}" if TIMED else ""))
    print("ok: a rung and its compiled function have the same results")


if __name__ == "__main__":
    main()
