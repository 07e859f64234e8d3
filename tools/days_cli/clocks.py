# SPDX-License-Identifier: MIT
"""What a GPU's clocks, power and temperature were while something ran on it, as nvidia-smi samples them."""
from __future__ import annotations

import os
import shutil
import statistics
import subprocess

_FIELDS = ("sm_mhz", "memory_mhz", "watts", "celsius")
_QUERY = "utilization.gpu,clocks.sm,clocks.mem,power.draw,temperature.gpu"


class Clocks:
    """with Clocks() as clocks: ...; then clocks.summary() is {"sm_mhz": {"least", "median", "most"}, ...} of the samples in
    which the GPU was busy, {} where nvidia-smi says nothing."""

    def __init__(self):
        self._lines = []

    def __enter__(self):
        smi = shutil.which("nvidia-smi")
        first = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0] or "0"
        self._process = subprocess.Popen([smi, "-i", first, f"--query-gpu={_QUERY}", "--format=csv,noheader,nounits",
                                          "--loop-ms=500"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                         stdin=subprocess.DEVNULL, universal_newlines=True) if smi else None
        return self

    def __exit__(self, *_):
        if not self._process:
            return
        self._process.terminate()
        try:
            self._lines = self._process.communicate(timeout=10)[0].splitlines()
        except subprocess.TimeoutExpired:  # a driver that hangs must not hang us
            self._process.kill()

    def summary(self):
        samples = [numbers for numbers in map(_numbers, self._lines) if numbers and numbers[0] > 0]
        return {name: {"least": min(column), "median": statistics.median(column), "most": max(column)}
                for name, column in zip(_FIELDS, list(zip(*samples))[1:])}


def _numbers(line):
    """None for a line that lacks a number ("[N/A]"), or that was cut off."""
    try:
        values = [float(word) for word in line.split(",")]
    except ValueError:
        return None
    return values if len(values) == 1 + len(_FIELDS) else None
