# SPDX-License-Identifier: MIT
"""What autograd keeps between forward and backward: bytes and nodes of three operations as they are, and compiled.

    build/python/bin/python3 day72_torch_compile/programs/kept.py [--times]"""
import sys

sys.dont_write_bytecode = True
sys.path[:0] = ["tools", "day72_torch_compile"]  # from the clone's folder
import torch  # noqa: E402
from clock import DEVICE, milliseconds  # noqa: E402


def gelu(x):
    return 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))


def kept(function, x):
    """(MiB of different tensors that the graph keeps, its nodes, the last node's name)"""
    tensors = {}
    with torch.autograd.graph.saved_tensors_hooks(lambda one: tensors.setdefault(one.data_ptr(), one), lambda one: one):
        y = function(x)
    nodes, ahead = set(), [y.grad_fn]
    while ahead:
        node = ahead.pop()
        if node is not None and node not in nodes:
            nodes.add(node)
            ahead += [before for before, _ in node.next_functions]
    return sum(one.nbytes for one in tensors.values()) / 2 ** 20, len(nodes), type(y.grad_fn).__name__


def step(function, x):
    x.grad = None
    function(x).sum().backward()
    return x.grad


def main():
    x = torch.randn(1 << 20, device=DEVICE, requires_grad=True)
    compiled = torch.compile(gelu)
    torch.testing.assert_close(step(compiled, x), step(gelu, x), rtol=1e-4, atol=1e-4)
    found = []
    for name, function in (("one by one", gelu), ("compiled", compiled)):
        size, nodes, last = kept(function, x)
        found.append(size)
        time = f"   forward and backward {milliseconds(step, function, x):8.2f} ms on {DEVICE}" if "--times" in sys.argv else ""
        print(f"{name:11} keeps {size:4.0f} MiB in {nodes:2} nodes, the last is {last}{time}")
    assert found[1] < found[0], "the compiler keeps no less"
    print("ok: the same gradient")


if __name__ == "__main__":
    main()
