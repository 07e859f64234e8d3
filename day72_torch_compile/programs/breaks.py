# SPDX-License-Identifier: MIT
"""Why a graph ends, in the compiler's words, and what one graph becomes on a GPU: loads and stores of a row in the Triton that is generated.

    build/python/bin/python3 day72_torch_compile/programs/breaks.py"""
import sys

sys.dont_write_bytecode = True
sys.path[:0] = ["tools", "day72_torch_compile"]  # from the clone's folder
import re  # noqa: E402

import code_of  # noqa: E402
import torch  # noqa: E402
import torch._dynamo  # noqa: E402


def main():
    for name in ("item", "whole"):
        torch._dynamo.reset()
        seen = torch._dynamo.explain(code_of.rung(name))(torch.randn(64, 512), torch.randn(512), torch.randn(512))
        print(f"{name}: graphs {seen.graph_count}, breaks {seen.graph_break_count}")
        for reason in seen.break_reasons:
            place = reason.user_stack[-1]
            print(f"    {place.line}\n    {reason.reason.splitlines()[0]}")
    print("whole in Triton:")
    for columns in (512, 4096):
        kernels = code_of.triton(code_of.rung("whole"), (torch.randn(64, columns), torch.randn(columns), torch.randn(columns)))
        whole_rows = [line for kernel in kernels for line in kernel if re.search(rf"\+ {columns}\*x0", line)]
        loads, stores = (sum(word in line for line in whole_rows) for word in ("tl.load", "tl.store"))
        print(f"    rows of {columns:4}: {len(kernels)} kernel; loads of a row {loads}, stores {stores}")
    print("ok: one break, and none")


if __name__ == "__main__":
    main()
