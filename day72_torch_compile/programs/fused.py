# SPDX-License-Identifier: MIT
"""From a function to a kernel: the graph that Dynamo writes down, the loop that Inductor makes of it for a CPU, and the same in Triton.

    build/python/bin/python3 day72_torch_compile/programs/fused.py [--times]"""
import sys

sys.dont_write_bytecode = True
sys.path[:0] = ["tools", "day72_torch_compile"]  # from the clone's folder
import code_of  # noqa: E402
import torch  # noqa: E402
from clock import DEVICE, milliseconds  # noqa: E402


def gate(a, b, c):
    return torch.sigmoid(a) * b + c


def graph_of(function, arguments):
    """The operations of the graph, one a line, as Dynamo gives them to a backend."""
    lines = []

    def backend(graph, inputs):
        lines.extend(f"{node.name} = {getattr(node.target, '__name__', node.target)}({', '.join(map(str, node.args))})"
                     for node in graph.graph.nodes if node.op in ("call_function", "call_method"))
        return graph.forward
    torch._dynamo.reset()
    torch.compile(function, backend=backend)(*arguments)
    return lines


def main():
    small = [torch.randn(4096) for _ in range(3)]
    for title, lines in (("the graph", graph_of(gate, small)), ("C++", code_of.cpp(gate, small)), ("Triton", code_of.triton(gate, small)[0])):
        print(f"{title}:\n    " + "\n    ".join(lines))
    if "--times" in sys.argv:
        inputs = [torch.randn(1 << 24, device=DEVICE) for _ in range(3)]
        torch._dynamo.reset()
        compiled = torch.compile(gate)
        torch.testing.assert_close(compiled(*inputs), gate(*inputs))
        for name, function, blocks in (("one by one", gate, 8), ("compiled", compiled, 4)):
            time = milliseconds(function, *inputs)
            print(f"{name:11} {time:8.2f} ms   {blocks} blocks of 64 MiB: {blocks * inputs[0].nbytes / time / 1e6:7.1f} GB/s   on {DEVICE}")
    print("ok: one graph, and one kernel of it in either language")


if __name__ == "__main__":
    main()
