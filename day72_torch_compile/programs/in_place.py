# SPDX-License-Identifier: MIT
"""The loop that Inductor makes of in_place for a CPU: both results go where the inputs lie.

    build/python/bin/python3 day72_torch_compile/programs/in_place.py"""
import sys

sys.dont_write_bytecode = True
sys.path[:0] = ["tools", "day72_torch_compile"]  # from the clone's folder
import code_of  # noqa: E402
import torch  # noqa: E402


def main():
    p, m, g = (torch.randn(4096) for _ in range(3))
    lines = code_of.cpp(code_of.rung("in_place"), (p, m, g, torch.tensor([1]), 1))
    print("\n".join(lines))
    loads, stores = (sum(word in line for line in lines) for word in ("loadu(", ".store("))
    assert (loads, stores) == (3, 2), "the least is three loads and two stores"
    print(f"ok: {loads} loads and {stores} stores in one loop")


if __name__ == "__main__":
    main()
