# SPDX-License-Identifier: MIT
"""bitsandbytes' dequantisation of a nested state."""
from contestants import Skip

BLOCK, GROUP = 64, 256


def dequantize(torch, problem):
    codes, codes8, absmax2, offset, code8 = problem.inputs
    y = problem.outputs[0]
    if not codes.is_cuda:
        raise Skip("needs a GPU")
    from bitsandbytes import functional as bnb  # pylint: disable=import-outside-toplevel
    nested = bnb.QuantState(absmax=absmax2, code=code8, blocksize=GROUP, dtype=torch.float32)
    state = bnb.QuantState(absmax=codes8, shape=torch.Size([y.numel()]), code=bnb.get_4bit_type("nf4", device=codes.device),
                           blocksize=BLOCK, quant_type="nf4", dtype=y.dtype, offset=offset[0], state2=nested)
    return lambda: bnb.dequantize_4bit(codes.view(-1, 1), state).view(-1)


CONTESTANTS = [("double_dequantize", "bitsandbytes", dequantize)]
