# SPDX-License-Identifier: MIT
"""What the day's rungs ask of their tensors, and the second kernel of those that leave partial sums behind."""
import triton
import triton.language as tl

from python_days import needs

LONGEST = 8192  # columns: a row's values and two sums stay in registers
STRIP = 128


@triton.jit
def strips_kernel(sums_ptr, dgamma_ptr, dbeta_ptr, parts, cols, STRIP: tl.constexpr):
    """A strip of columns a program, from the first partial row to the last: always in this order."""
    i = tl.program_id(0) * STRIP + tl.arange(0, STRIP)
    dgamma, dbeta = tl.zeros((STRIP,), tl.float32), tl.zeros((STRIP,), tl.float32)
    for part in range(parts):
        dgamma += tl.load(sums_ptr + part * 2 * cols + i, mask=i < cols, other=0.0)
        dbeta += tl.load(sums_ptr + part * 2 * cols + cols + i, mask=i < cols, other=0.0)
    tl.store(dgamma_ptr + i, dgamma, mask=i < cols)
    tl.store(dbeta_ptr + i, dbeta, mask=i < cols)


def add_up(sums, dgamma, dbeta):
    """sums: (parts, 2, cols), of dgamma and of dbeta."""
    parts, _, cols = sums.shape
    strips_kernel[(triton.cdiv(cols, STRIP),)](sums, dgamma, dbeta, parts, cols, STRIP=STRIP)


def needs_backward(dy, x, gamma, mean, rstd, dx, dgamma, dbeta):
    needs.same_type(x=x, dy=dy, gamma=gamma, dx=dx)
    needs.same_type(mean=mean, rstd=rstd, dgamma=dgamma, dbeta=dbeta)
    needs.same_shape(x=x, dy=dy, dx=dx)
    needs_rows(x, gamma, mean)
    needs.same_shape(gamma=gamma, dgamma=dgamma, dbeta=dbeta)
    needs.same_shape(mean=mean, rstd=rstd)
    needs.contiguous(x=x, dy=dy, gamma=gamma, mean=mean, rstd=rstd, dx=dx, dgamma=dgamma, dbeta=dbeta)


def needs_rows(x, gamma, mean):
    """x a matrix whose rows fit into registers, gamma of its columns, mean fp32 of its rows."""
    needs.rows_dense(x=x)
    rows, cols = x.shape
    if tuple(gamma.shape) != (cols,) or tuple(mean.shape) != (rows,):
        raise ValueError(f"x is {rows} x {cols}, so gamma has {cols} elements and mean {rows}, and not {tuple(gamma.shape)} and {tuple(mean.shape)}")
    if "float32" not in str(mean.dtype):
        raise ValueError(f"mean is {mean.dtype}, and it takes float32: a mean in 16 bits is off by more than a deviation")
    if not 0 < cols <= LONGEST:
        raise ValueError(f"x has {cols} columns, and these kernels take 1 to {LONGEST}")


def launch_of(cols):
    """A block as long as the row, and the warps that share it."""
    block = triton.next_power_of_2(cols)
    return {"BLOCK": block, "num_warps": 4 if block <= 1024 else 8 if block <= 4096 else 16}
