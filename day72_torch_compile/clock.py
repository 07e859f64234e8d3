# SPDX-License-Identifier: MIT
"""Where the day's programs compute, and how long a call takes there."""
import os
import statistics
import time

import torch

DEVICE = "cuda" if torch.cuda.is_available() and os.environ.get("DAYS_BACKEND") != "simt" else "cpu"


def milliseconds(function, *arguments, calls=15):
    """The median of some calls. The first two are not timed: they compile, and touch memory for the first time."""
    def one():
        if DEVICE == "cpu":
            began = time.perf_counter()
            function(*arguments)
            return 1e3 * (time.perf_counter() - began)
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        function(*arguments)
        last.record()
        last.synchronize()
        return first.elapsed_time(last)
    for _ in range(2):
        one()
    return statistics.median(one() for _ in range(calls))
