# SPDX-License-Identifier: MIT
"""What the profiler sees of one step of momentum: operation by operation, and compiled.

    build/python/bin/python3 day72_torch_compile/programs/profiled.py [--times]"""
import sys

sys.dont_write_bytecode = True
sys.path[:0] = ["tools", "day72_torch_compile"]  # from the clone's folder
import code_of  # noqa: E402
import torch  # noqa: E402
import torch._inductor.config  # noqa: E402
from clock import DEVICE  # noqa: E402
from torch.autograd import DeviceType  # noqa: E402
from torch.profiler import ProfilerActivity, profile  # noqa: E402

torch._inductor.config.cpp.enable_kernel_profile = True  # a CPU's kernels have no names otherwise
ON_GPU = [ProfilerActivity.CUDA] if DEVICE == "cuda" else []


def seen(function, arguments):
    """[(name, calls, microseconds)] of what did the work: kernels on a GPU, elsewhere operations that call no other."""
    function(*arguments)  # the first call compiles
    with profile(activities=[ProfilerActivity.CPU, *ON_GPU]) as found:
        function(*arguments)
    if ON_GPU:
        return [(one.key, one.count, one.self_device_time_total) for one in found.key_averages() if one.device_type == DeviceType.CUDA]
    return [(one.key, one.count, one.self_cpu_time_total) for one in found.key_averages() if one.key.startswith(("aten::", "cpp_fused", "graph_"))]


def main():
    n = 1 << 22 if "--times" in sys.argv else 4096
    p, m, g = (torch.randn(n, device=DEVICE) for _ in range(3))
    arguments, launch = (p, m, g, torch.tensor([1], device=DEVICE), 1), code_of.rung("in_place")
    for title, function in (("one by one", launch), ("compiled", torch.compile(launch))):
        rows = seen(function, arguments)
        print(f"{title}:")
        for name, calls, time in rows:
            print(f"    {calls} x {name[:60]}" + (f"   {time:9.1f} us" if "--times" in sys.argv else ""))
    assert any("fused" in name for name, _, _ in rows), "no generated kernel is seen"
    print("ok: the compiled step is seen by its kernel's name")


if __name__ == "__main__":
    main()
