# SPDX-License-Identifier: MIT
"""A copy from pageable and from pinned memory to the GPU, alone and beside kernels on another stream. Needs a GPU.

    build/python/bin/python3 day72_torch_compile/programs/pinned.py [--times]"""
import sys

sys.dont_write_bytecode = True
sys.path[:0] = ["tools", "day72_torch_compile"]  # from the clone's folder
import time  # noqa: E402

import torch  # noqa: E402
from clock import DEVICE  # noqa: E402

N, PARTS, ROUNDS = 1 << 24, 4, 8


def work(x):
    for _ in range(ROUNDS):
        x = torch.sigmoid(x) * x + x
    return x


def copied_and_worked(parts, streams):
    """Results, one for each part: copied to the GPU, and worked on. With a stream for each part the copy of one may run beside another's kernels."""
    results = []
    for number, part in enumerate(parts):
        with torch.cuda.stream(streams[number % len(streams)]):
            results.append(work(part.to("cuda", non_blocking=True)))
    torch.cuda.synchronize()
    return results


def timed(function, *arguments):
    """(the result, seconds of the best of five calls, seconds until a call of it came back to Python)"""
    best, back = float("inf"), float("inf")
    for _ in range(6):
        torch.cuda.synchronize()
        began = time.perf_counter()
        result = function(*arguments)
        returned = time.perf_counter() - began
        torch.cuda.synchronize()
        best, back = min(best, time.perf_counter() - began), min(back, returned)
    return result, best, back


def main():
    if DEVICE != "cuda":
        print("skip: pinned memory needs a GPU")
        return
    pageable = torch.randn(N)
    pinned = pageable.pin_memory()
    assert pinned.is_pinned() and not pageable.is_pinned()
    for name, x in (("pageable", pageable), ("pinned", pinned)):
        there, seconds, back = timed(lambda x=x: x.to("cuda", non_blocking=True))
        assert torch.equal(there.cpu(), pageable)
        told = f"{seconds * 1e3:8.2f} ms, {x.nbytes / seconds / 1e9:6.1f} GB/s; Python goes on after {back * 1e3:8.3f} ms" if "--times" in sys.argv else "the same bytes"
        print(f"copy    {name:9} {told}")
    expected = [work(part.cuda()).cpu() for part in pageable.chunk(PARTS)]
    for name, x, count in (("pageable", pageable, 2), ("pinned", pinned, 1), ("pinned", pinned, 2)):
        results, seconds, _ = timed(copied_and_worked, x.chunk(PARTS), [torch.cuda.Stream() for _ in range(count)])
        for result, one in zip(results, expected):
            torch.testing.assert_close(result.cpu(), one)
        told = f"{seconds * 1e3:8.2f} ms" if "--times" in sys.argv else "right"
        print(f"copy and work  {name:9} {count} stream{'s' * (count > 1):1} {told}")
    print("ok: the same results from either memory")


if __name__ == "__main__":
    main()
