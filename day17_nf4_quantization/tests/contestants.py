# SPDX-License-Identifier: MIT
"""bitsandbytes' kernels, and the table's look-up by torch.compile."""
from contestants import Skip

BLOCK = 64


def functional(tensor):
    if not tensor.is_cuda:
        raise Skip("needs a GPU")
    from bitsandbytes import functional as bnb  # pylint: disable=import-outside-toplevel
    return bnb


def dequantize(torch, problem):
    codes, absmax = problem.inputs
    bnb, y = functional(codes), problem.outputs[0]
    state = bnb.QuantState(absmax=absmax, shape=torch.Size([y.numel()]), code=bnb.get_4bit_type("nf4", device=codes.device),
                           blocksize=BLOCK, quant_type="nf4", dtype=y.dtype)
    return lambda: bnb.dequantize_4bit(codes.view(-1, 1), state).view(-1)


def quantize(torch, problem):
    x, = problem.inputs
    bnb = functional(x)
    del torch

    def run():
        codes, state = bnb.quantize_4bit(x, blocksize=BLOCK, quant_type="nf4")
        return codes.view(-1), state.absmax
    return run


def compiled(torch, problem):
    codes, absmax = problem.inputs
    y = problem.outputs[0]
    table = torch.tensor([-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
                          -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
                          0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
                          0.7229568362236023, 1.0], device=codes.device)

    @torch.compile
    def function(codes, absmax):
        both = torch.stack((codes >> 4, codes & 15), 1).view(-1)[:y.numel()]
        scales = absmax.repeat_interleave(BLOCK)[:y.numel()]
        return (table[both.int()] * scales).to(y.dtype)
    return lambda: function(codes, absmax)


CONTESTANTS = [("nf4_dequantize", "bitsandbytes", dequantize), ("nf4_dequantize", "torch.compile", compiled),
               ("nf4_quantize", "bitsandbytes", quantize)]
