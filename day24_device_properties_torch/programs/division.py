# SPDX-License-Identifier: MIT
"""The division that a launch is: what each kernel of the day takes, by what a multiprocessor has, times how many there are.

    python day24_device_properties_torch/programs/division.py            for an assumed H200 (DAYS_DEVICE=t4: a T4), the same everywhere
    python day24_device_properties_torch/programs/division.py --times    first what torch tells of the GPU that is here"""
import os
import sys
from pathlib import Path

os.environ.pop("TRITON_INTERPRET", None)  # triton reads it as it is imported
sys.dont_write_bytecode = True
# The course's folder, for a copy of this file as well, wherever it lies: then the folder where it is run.
ROOT = next(folder for folder in (*Path(__file__).resolve().parents, Path.cwd()) if (folder / "tools" / "days_cli").is_dir())
sys.path.insert(0, str(ROOT / "tools"))
os.environ.setdefault("TRITON_CACHE_DIR", str(ROOT / "build" / "python-cache"))

from days_cli import sass  # noqa: E402
from days_cli.errors import DaysError  # noqa: E402
from python_days import compiled, device  # noqa: E402
from python_days.day import Day  # noqa: E402

MEMBERS = ("name", "multi_processor_count", "max_threads_per_multi_processor", "regs_per_multiprocessor", "shared_memory_per_multiprocessor",
           "L2_cache_size")


def here():
    """What torch tells of this machine's GPU; whether there is one."""
    try:
        import torch
    except ImportError as error:
        raise DaysError(f"--times asks PyTorch about the GPU, and it cannot be imported: {error}", "pip install torch") from error
    if not torch.cuda.is_available():
        return False
    properties = torch.cuda.get_device_properties(0)
    for member in MEMBERS:
        print(f"{member:36}{getattr(properties, member, 'this torch does not tell')}")
    return True


def main():
    if "--times" in sys.argv[1:] and not here():
        print("skip: PyTorch sees no GPU here")
        return 0
    found, day = device.assumed(), Day(ROOT / "day24_device_properties_torch")
    ladder, sm = day.ladders[0], 10 * found.major + found.minor
    print(f"{found.name}: {found.multi_processor_count} multiprocessors, each with {found.max_threads_per_multi_processor:,} threads and "
          f"{found.regs_per_multiprocessor:,} registers")
    print(f"{'':14}{'threads':>8}{'registers':>11}{'a multiprocessor':>18}{'held by':>11}{'programs':>10}")
    for rung in ladder.rungs:
        inputs, outputs = ladder.make("fp32", ladder.show, draw=False)
        kernel = compiled.compiled(day.launch(rung), [*inputs, *outputs], sm)[0]
        held, by = sass.blocks(sm, 32 * kernel.warps, kernel.registers, kernel.shared)
        print(f"{rung:14}{32 * kernel.warps:>8}{kernel.registers:>11}{held:>18}{by:>11}{held * found.multi_processor_count:>10,}")
        if held != device.residents(found, kernel.registers, kernel.shared, kernel.warps):
            print("two ways to count them differ")
            return 1
    print("ok: the device holds so many programs at a time")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DaysError as error:
        print(f"error: {error.message}", file=sys.stderr)
        sys.exit(error.code)
