# SPDX-License-Identifier: MIT
"""PyTorch's product with weights of 16 bits, its own with 4 and 8, and bitsandbytes'."""
from contestants import Skip

GROUP, NF4_BLOCK = 128, 64
SHAPES = {"int4": [[2, 8, 256], [16, 64, 1024]], "int8": [[2, 8, 64], [16, 64, 1024]], "nf4": [[2, 8, 64], [16, 64, 1024]],
          "plain": [[2, 8, 64], [16, 64, 1024]]}


def sizes(problem):
    return problem.shape["m"], problem.shape["n"], problem.shape["k"]


def times(torch, problem, w):
    """x times w transposed, which is cuBLAS."""
    m, n, k = sizes(problem)
    x, y = problem.inputs[0].view(m, k), problem.outputs[0].view(m, n)
    w = w.to(x.dtype).view(n, k)

    def run():
        torch.matmul(x, w.t(), out=y)
    return run


def rounded(weights):
    """For who rounds each weight to 16 bits, as the ladder allows no rung: makes a check of a result beside the product in double. An
    error of a rounding each, and of random signs, four times its size; then the result's own rounding."""
    def check(outputs, problem):
        m, n, k = sizes(problem)
        x, y = problem.inputs[0].view(m, k).double(), outputs[0].view(m, n)
        w = weights(problem).double().view(n, k)
        expected, half = x @ w.t(), 2.0 ** (-11 if str(y.dtype) == "torch.float16" else -9)
        allowed = 4 * half * (x.square() @ w.square().t()).sqrt() + 2 * half * expected.abs()
        wrong = int(((y.double() - expected).abs() > allowed).sum())
        return f"{wrong} of {m * n} are further off than weights of 16 bits" if wrong else ""
    return check


def codes_of(packed):
    """Of bytes the two codes of each, the lower half first."""
    both = packed.new_empty((packed.numel(), 2))
    both[:, 0], both[:, 1] = packed & 15, packed >> 4
    return both.view(-1)


def int4_weights(problem):
    _, n, k = sizes(problem)
    _, w, scale = problem.inputs
    return (codes_of(w).view(n, k // GROUP, GROUP).float() - 8) * scale.view(n, k // GROUP, 1).float()


def int4_matmul(torch, problem):
    return times(torch, problem, int4_weights(problem))


def int4pack(torch, problem):
    """torch._weight_int4pack_mm, which has bf16 alone, and n and k in whole tiles; its weights are (q - 8) * scale + zero."""
    m, n, k = sizes(problem)
    x, w, scale = problem.inputs
    if not x.is_cuda or x.dtype != torch.bfloat16 or n % 64 or k % 1024:
        raise Skip("needs a GPU, bf16, n % 64 == 0, k % 1024 == 0")
    codes = codes_of(w).view(n, k)
    packed = torch._convert_weight_to_int4pack((codes[:, ::2] << 4 | codes[:, 1::2]).contiguous(), 8)  # pylint: disable=protected-access
    scales = scale.view(n, k // GROUP, 1)
    both = torch.cat((scales, torch.zeros_like(scales)), 2).transpose(0, 1).contiguous()
    x = x.view(m, k)
    return lambda: torch._weight_int4pack_mm(x, packed, GROUP, both).view(problem.outputs[0].shape)  # pylint: disable=protected-access


def int8_weights(problem):
    _, n, k = sizes(problem)
    _, w, scale = problem.inputs
    return w.view(n, k).float() * scale.view(n, 1).float()


def int8_matmul(torch, problem):
    return times(torch, problem, int8_weights(problem))


def int8pack(torch, problem):
    m, n, k = sizes(problem)
    x, w, scale = problem.inputs
    if x.dtype != torch.bfloat16:
        raise Skip("needs bf16")
    x, w = x.view(m, k), w.view(n, k)
    return lambda: torch._weight_int8pack_mm(x, w, scale).view(problem.outputs[0].shape)  # pylint: disable=protected-access


def nf4_matmul(torch, problem):
    _, n, k = sizes(problem)
    _, codes, absmax = problem.inputs
    table = torch.tensor([-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
                          -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
                          0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
                          0.7229568362236023, 1.0], device=codes.device)
    both = torch.stack((codes >> 4, codes & 15), -1).view(n, k // NF4_BLOCK, NF4_BLOCK)
    return times(torch, problem, table[both.int()] * absmax.view(n, k // NF4_BLOCK, 1))


def bitsandbytes(torch, problem):
    m, n, k = sizes(problem)
    x, codes, absmax = problem.inputs
    if not x.is_cuda:
        raise Skip("needs a GPU")
    import bitsandbytes as bnb  # pylint: disable=import-outside-toplevel
    state = bnb.functional.QuantState(absmax=absmax, shape=torch.Size([n, k]), code=bnb.functional.get_4bit_type("nf4", device=codes.device),
                                      blocksize=NF4_BLOCK, quant_type="nf4", dtype=x.dtype)
    x, w = x.view(m, k), codes.view(-1, 1)
    return lambda: bnb.matmul_4bit(x, w.t(), quant_state=state).view(problem.outputs[0].shape)


def plain_matmul(torch, problem):
    return times(torch, problem, problem.inputs[1])


int4_matmul.check = int4pack.check = rounded(int4_weights)
int8_matmul.check = rounded(int8_weights)

CONTESTANTS = [("int4", "torch.matmul", int4_matmul), ("int4", "torch int4pack", int4pack), ("int8", "torch.matmul", int8_matmul),
               ("int8", "torch int8pack", int8pack), ("nf4", "torch.matmul", nf4_matmul), ("nf4", "bitsandbytes", bitsandbytes),
               ("plain", "torch.matmul", plain_matmul)]
