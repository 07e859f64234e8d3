# SPDX-License-Identifier: MIT
"""Changed since filled: 32 elements a thread, so each asks for eight times as much at once. That takes registers, and a multiprocessor no
longer holds as many programs as it has threads for. How many it holds the compiled kernel tells: it is compiled without a launch, asked for
its registers and shared memory, and the launcher divides.
"""
import triton
import triton.language as tl
from finish import finish_kernel

from python_days import device, needs

BLOCK, WARPS = 16384, 16


@triton.jit
def asked_kernel(x_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = first + tl.arange(0, BLOCK)  # (BLOCK,)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
        total += x * x
    tl.store(partial_ptr + tl.program_id(0), tl.sum(total, axis=0))


def launch(x, out):
    needs.summed(x, out)
    n, found = x.numel(), device.properties(x)
    registers, shared = device.taken(asked_kernel, x, out, n, BLOCK=BLOCK, num_warps=WARPS)
    held = device.residents(found, registers, shared, WARPS)
    programs = min(held * found.multi_processor_count, triton.cdiv(n, BLOCK))
    partial = out.new_empty(programs)
    asked_kernel[(programs,)](x, partial, n, BLOCK=BLOCK, num_warps=WARPS)
    finish_kernel[(1,)](partial, out, programs, BLOCK=1024)
