# SPDX-License-Identifier: MIT
"""Whose memory is it? The same result seen by PyTorch, NumPy, CuPy and JAX, by way of DLPack: each says whether it sees the operator's own
memory. Where a library is not installed it says so.

    ./days run 2 --list                                     # makes build/python, where nothing is installed yet
    build/python/bin/python3 day02_vector_add_torch/guests.py"""
import importlib
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tools"), str(Path(__file__).resolve().parent)]
import torch  # noqa: E402
from vector_add import operator  # noqa: E402

# (module, how it takes a tensor, where its array begins)
GUESTS = (
    ("numpy", lambda numpy, tensor: numpy.from_dlpack(tensor), lambda array: array.__array_interface__["data"][0]),
    ("cupy", lambda cupy, tensor: cupy.from_dlpack(tensor), lambda array: array.data.ptr),
    ("jax", lambda jax, tensor: importlib.import_module("jax.dlpack").from_dlpack(tensor), lambda array: array.unsafe_buffer_pointer()),
)


def main():
    on_gpu = torch.cuda.is_available() and os.environ.get("DAYS_BACKEND") == "cuda"
    a = torch.arange(4, dtype=torch.float32, device="cuda" if on_gpu else "cpu")
    c = operator("day02_guests")(a, a)
    print(f"torch  {c.tolist()} on the {c.device.type}, made by the operator")
    for name, take, address in GUESTS:
        try:
            guest = take(importlib.import_module(name), c)
        except ImportError:
            print(f"{name:6} is not installed here")
            continue
        except (RuntimeError, ValueError, BufferError, TypeError) as error:  # NumPy takes no memory of a GPU, CuPy none of a CPU
            print(f"{name:6} does not take it: {str(error).splitlines()[0]}")
            continue
        print(f"{name:6} the same memory: {'yes' if address(guest) == c.data_ptr() else 'no'}")
    if not on_gpu:
        array = GUESTS[0][1](importlib.import_module("numpy"), c)
        c[0] = 100
        print(f"torch  writes 100 to c[0], and numpy reads {array[0]:g}")


if __name__ == "__main__":
    main()
