# SPDX-License-Identifier: MIT
"""What a launcher asks of its tensors before it launches: each refusal is a ValueError that names the tensor. All that is asked is
what PyTorch's tensors and NumPy's arrays tell, too, so that the same launcher serves all."""
from __future__ import annotations

import math


def same_type(**tensors):
    (first, model), *others = tensors.items()
    for name, tensor in others:
        if tensor.dtype != model.dtype:
            raise ValueError(f"{name} is {_type(tensor)}, and {first} is {_type(model)}")
        device, wanted = (str(getattr(one, "device", "cpu")) for one in (tensor, model))
        if device != wanted:
            raise ValueError(f"{name} is on {device}, and {first} on {wanted}")


def same_shape(**tensors):
    (first, model), *others = tensors.items()
    for name, tensor in others:
        if tuple(tensor.shape) != tuple(model.shape):
            raise ValueError(f"{name} is {_shape(tensor)}, and {first} {_shape(model)}")


def contiguous(**tensors):
    for name, tensor in tensors.items():
        if not (tensor.is_contiguous() if hasattr(tensor, "is_contiguous") else tensor.flags.c_contiguous):
            raise ValueError(f"{name} is not contiguous: its strides are {', '.join(map(str, _strides(tensor)))}")


def floats(**tensors):
    """Elements that a function of real numbers takes."""
    for name, tensor in tensors.items():
        if "float" not in _type(tensor):
            raise ValueError(f"{name} is {_type(tensor)}, and it takes float32, float16 or bfloat16")


def indices_of_32_bits(**tensors):
    """Of kernels that count elements, and those between rows, in int32: the last program's block must not run over."""
    for name, tensor in tensors.items():
        if _reach(tensor) > 2**31 - 2**16:
            raise ValueError(f"{name} reaches over {_reach(tensor):,} elements, and this kernel counts to {2**31 - 2**16:,}: hand it over in parts")


def rows_dense(**tensors):
    """Of matrices: neighbours in a row are neighbours in memory; rows may lie apart."""
    for name, tensor in tensors.items():
        if len(tensor.shape) != 2:
            raise ValueError(f"{name} has {len(tensor.shape)} dimensions, and a matrix has 2")
        if tensor.shape[1] > 1 and _strides(tensor)[1] != 1:
            raise ValueError(f"{name}'s columns lie {_strides(tensor)[1]} elements apart, not side by side")


def transposed(x, y):
    """Of y = x^T: two matrices of one type, rows dense; y is as wide as x is high, and shares no memory with it."""
    same_type(x=x, y=y)
    rows_dense(x=x, y=y)
    if tuple(y.shape) != tuple(x.shape)[::-1]:
        raise ValueError(f"x is {_shape(x)}, so its transpose is {x.shape[1]} x {x.shape[0]}, and y is {_shape(y)}")
    apart(x=x, y=y)
    indices_of_32_bits(x=x, y=y)


def apart(**tensors):
    """No two of them share memory."""
    places = {name: (address(tensor), address(tensor) + _reach(tensor) * tensor.element_size()) for name, tensor in tensors.items()}
    for name, (first, last) in places.items():
        for other, (start, end) in places.items():
            if name < other and max(first, start) < min(last, end):
                raise ValueError(f"{name} and {other} overlap in memory, and what is stored to one would be loaded of the other")


def number(**values):
    """A finite number that is no tensor."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise ValueError(f"{name} is {value!r}, and it takes a finite number")


def summed(x, out):
    """Of a sum of all elements: x of a float type, dense, and one fp32. Places are counted in 32 bits, with what a grid of programs walks on."""
    contiguous(x=x, out=out)
    if out.numel() != 1 or _type(out) != "float32":
        raise ValueError(f"out is {_shape(out)} {_type(out)}, and a sum is one float32")
    if not _type(x).startswith(("float", "bfloat")):
        raise ValueError(f"x is {_type(x)}, and it takes floats")
    if x.numel() > 2**31 - 2**26:
        raise ValueError(f"x has {x.numel():,} elements, and it takes at most 2^31 - 2^26 = {2**31 - 2**26:,}")


def product(a, b, c):
    """Of a matrix product C = A B: a (m, k), b (k, n), c (m, n), each dense."""
    same_type(a=a, b=b, c=c)
    rows_dense(a=a, b=b, c=c)
    contiguous(a=a, b=b, c=c)
    if (a.shape[1], a.shape[0], b.shape[1]) != (b.shape[0], c.shape[0], c.shape[1]):
        raise ValueError(f"a is {_shape(a)}, b {_shape(b)} and c {_shape(c)}, which is no product")


def linear(x, w, y):
    """Of a layer y = x W^T: x (m, k), w (n, k), y (m, n), each dense."""
    same_type(x=x, w=w, y=y)
    rows_dense(x=x, w=w, y=y)
    contiguous(x=x, w=w, y=y)
    if (x.shape[1], x.shape[0], w.shape[0]) != (w.shape[1], y.shape[0], y.shape[1]):
        raise ValueError(f"x is {_shape(x)}, w {_shape(w)} and y {_shape(y)}, which is no layer")


def norm_backward(dy, x, w, rstd, dx, dw, most):
    """Of a norm's backward: dy, x and dx (rows, cols), whose rows may lie apart, w and dw (cols), rstd (rows) in fp32; `most` columns at most."""
    same_type(dy=dy, x=x, w=w, dx=dx, dw=dw)
    floats(x=x)
    rows_dense(dy=dy, x=x, dx=dx)
    same_shape(dy=dy, x=x, dx=dx)
    same_shape(w=w, dw=dw)
    contiguous(w=w, rstd=rstd, dw=dw)
    rows, cols = x.shape
    if (tuple(w.shape), tuple(rstd.shape)) != ((cols,), (rows,)):
        raise ValueError(f"x is {rows} x {cols}, so w is {cols} and rstd {rows}, not {_shape(w)} and {_shape(rstd)}")
    if _type(rstd) != "float32":
        raise ValueError(f"rstd is {_type(rstd)}, and a row's scale wants all digits of float32")
    if not 1 <= cols <= most:
        raise ValueError(f"rows of {cols} elements: a program has registers for 1 to {most}")


def matmul(a, b, c):
    """The same, all fp32."""
    for name, matrix in (("a", a), ("b", b), ("c", c)):
        if _type(matrix) != "float32":
            raise ValueError(f"{name} is {_type(matrix)}, and it takes float32")
    product(a, b, c)


def dropout(seed, p, x):
    """Of a random mask for x's elements: a share, a seed of 64 bits, and positions of which a fourth is counted in 31 bits."""
    if not 0 <= p <= 1:
        raise ValueError(f"p is {p}, and the share that is dropped lies between 0 and 1")
    if not -2 ** 63 <= seed < 2 ** 63:
        raise ValueError(f"the seed is {seed}, which does not fit into 64 bits with a sign")
    if x.numel() > 2 ** 33:
        raise ValueError(f"x has {x.numel():,} elements, and positions are counted up to {2 ** 33:,}")


def nf4(codes, absmax, table, n, y):
    """Of numbers of 4 bits: codes ((n + 1) // 2) uint8, absmax (ceil(n / 64)) and table (16) fp32, y (n), each dense. Kernels count places
    in 32 bits, a program's length beyond n."""
    if n > 2**31 - 2**16:
        raise ValueError(f"n is {n}, and it takes at most 2^31 - 2^16 = {2**31 - 2**16}")
    for name, tensor, kinds, count in (("codes", codes, ("uint8",), (n + 1) // 2), ("absmax", absmax, ("float32",), -(-n // 64)),
                                       ("table", table, ("float32",), 16), ("y", y, ("bfloat16", "float16", "float32"), n)):
        if _type(tensor) not in kinds:
            raise ValueError(f"{name} is {_type(tensor)}, and it takes {' or '.join(kinds)}")
        if str(getattr(tensor, "device", "cpu")) != str(getattr(codes, "device", "cpu")):
            raise ValueError(f"{name} is on {tensor.device}, and codes on {codes.device}")
        if tuple(tensor.shape) != (count,):
            raise ValueError(f"{name} is {_shape(tensor)}, and for n = {n} it takes {count}")
    contiguous(codes=codes, absmax=absmax, table=table, y=y)


def batch_norm(x, gamma, beta, running_mean, running_var, eps, y, mean, rstd):
    """Of batch norm with channels side by side: x and y (rows, cols), all else (cols) in fp32."""
    same_type(x=x, y=y)
    rows_dense(x=x, y=y)
    contiguous(x=x, y=y)
    same_shape(x=x, y=y)
    if x.shape[0] < 2:
        raise ValueError(f"x has {x.shape[0]} rows, and a variance needs two")
    for name, one in (("gamma", gamma), ("beta", beta), ("running_mean", running_mean), ("running_var", running_var), ("mean", mean),
                      ("rstd", rstd)):
        if _type(one) != "float32" or tuple(one.shape) != (x.shape[1],):
            raise ValueError(f"{name} is {_shape(one)} of {_type(one)}, and x's {x.shape[1]} channels want as many of float32")
        contiguous(**{name: one})
    if not eps > 0:
        raise ValueError(f"eps is {eps}, and a channel that is the same throughout needs more than 0")


def blur(x, w, y):
    """Of a blur: x and y (planes, rows, cols) dense, w fp32 of 2R + 1 weights. The radius R, which is 1 to 8."""
    same_type(x=x, y=y)
    floats(x=x)
    if len(x.shape) != 3 or not x.numel():
        raise ValueError(f"x is {_shape(x)}, and it takes planes x rows x columns, at least one of each")
    same_shape(x=x, y=y)
    if _type(w) != "float32" or len(w.shape) != 1 or w.shape[0] not in range(3, 18, 2):
        raise ValueError(f"w is {_shape(w)} of {_type(w)}, and a radius of 1 to 8 has 3, 5 ... or 17 weights of float32")
    contiguous(x=x, w=w, y=y)
    apart(x=x, y=y)
    indices_of_32_bits(x=x, y=y)
    return w.shape[0] // 2


def address(array):
    """Where the elements of an array or a tensor begin."""
    return array.data_ptr() if hasattr(array, "data_ptr") else array.ctypes.data


def stream(tensor):
    """PyTorch's current stream for a tensor on a GPU; 0 for an array."""
    if not getattr(tensor, "is_cuda", False):
        return 0
    import torch
    return torch.cuda.current_stream(tensor.device).cuda_stream


def int32(number):
    """A number as a kernel in CUDA C++ takes an int."""
    import numpy
    return numpy.int32(number)


def _strides(tensor):
    """In elements; NumPy has them in bytes."""
    return tuple(tensor.stride()) if hasattr(tensor, "stride") else tuple(step // tensor.itemsize for step in tensor.strides)


def _reach(tensor):
    """Elements from the first to the last, gaps and all."""
    return 1 + sum((extent - 1) * step for extent, step in zip(tensor.shape, _strides(tensor))) if math.prod(tensor.shape) else 0


def _type(tensor):
    return str(tensor.dtype).rpartition(".")[2]


def _shape(tensor):
    return " x ".join(map(str, tensor.shape)) or "a single number"
