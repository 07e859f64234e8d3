# SPDX-License-Identifier: MIT
"""Three ways to one graph of a function with an if on a tensor's value: torch.jit.script keeps the if, torch.export refuses it, torch.compile cuts there.

    build/python/bin/python3 day72_torch_compile/programs/scripted.py [--times]"""
import sys

sys.dont_write_bytecode = True
sys.path[:0] = ["tools", "day72_torch_compile"]  # from the clone's folder
import warnings  # noqa: E402

import torch  # noqa: E402
from clock import DEVICE, milliseconds  # noqa: E402


def block(x, gain, limit: float = 4.0):
    y = torch.tanh(x) * x
    if bool(y.abs().max() > limit):
        y = y * (limit / y.abs().max())
    return x + y * gain


class Block(torch.nn.Module):
    def forward(self, x, gain):
        return block(x, gain)


def scripted():
    """The function by torch.jit.script, and what PyTorch says of that."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        made = torch.jit.script(block)
    return made, [one.category.__name__ for one in said if "torch.jit" in str(one.message)]


def exported(inputs):
    try:
        torch.export.export(Block(), inputs, strict=False)
    except Exception as error:
        return type(error).__name__
    return "one graph"


def main():
    small, large = torch.randn(64, 64, device=DEVICE), 100 * torch.randn(64, 64, device=DEVICE)
    gain = torch.randn(64, device=DEVICE)
    made, said = scripted()
    for x in (small, large):  # either way of the if
        torch.testing.assert_close(made(x, gain), block(x, gain))
    ifs = str(made.graph).count("prim::If")
    graphs = torch._dynamo.explain(block)(small, gain).graph_count
    print(f"torch.jit.script  1 graph with {ifs} if in it; PyTorch says {', '.join(sorted(set(said))) or 'nothing'}")
    print(f"torch.export      {exported((small, gain))}")
    print(f"torch.compile     {graphs} graphs, with Python between them")
    if "--times" in sys.argv:
        torch._dynamo.reset()
        x, gain = torch.randn(4096, 1024, device=DEVICE), torch.randn(1024, device=DEVICE)
        for name, function in (("as it is", block), ("jit.script", made), ("compile", torch.compile(block))):
            print(f"{name:11} {milliseconds(function, x, gain):8.2f} ms on {DEVICE}")
    assert ifs == 1 and graphs == 2
    print("ok: the script is right on both sides of the if")


if __name__ == "__main__":
    main()
