# SPDX-License-Identifier: MIT
"""What the day's rungs ask of their tensors."""
from python_days import needs


def asks(x, target, scale, loss, dx):
    needs.same_type(x=x, dx=dx)
    needs.same_type(scale=scale, loss=loss)
    needs.rows_dense(x=x)
    needs.same_shape(x=x, dx=dx)
    needs.same_shape(target=target, scale=scale, loss=loss)
    needs.contiguous(x=x, dx=dx, target=target, scale=scale, loss=loss)
    rows, cols = x.shape
    if tuple(target.shape) != (rows,):
        raise ValueError(f"x has {rows} rows, and target is {tuple(target.shape)}")
    for name, tensor, wanted in (("target", target, "int64"), ("scale", scale, "float32")):
        if str(tensor.dtype).rpartition(".")[2] != wanted:
            raise ValueError(f"{name} is {tensor.dtype}, and it takes {wanted}")
    if not cols:
        raise ValueError("x has no columns, and a row of nothing has no probabilities")
