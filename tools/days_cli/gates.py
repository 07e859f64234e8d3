# SPDX-License-Identifier: MIT
"""What a ladder may ask of an exercise's counters, each with the words that check and explain have for it."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Gate:
    """key: in a ladder's gates; unset: the value that means none; most: the gate is a maximum, else a minimum."""
    key: str
    label: str
    form: str
    unset: float
    most: bool = True

    def is_set(self, gates):
        return gates[self.key] != self.unset

    def holds(self, value, gates):
        return value <= gates[self.key] if self.most else value >= gates[self.key]

    def bound(self, gates):
        limit = gates[self.key]
        return f"at {'most' if self.most else 'least'} " + (f"{limit:.0%}" if "%" in self.form else f"{limit:g}")


GATES = (Gate("reads_per_input", "reads per input", "{:.2f}", 0),
         Gate("wasted_sectors", "wasted sectors", "{:.0%}", 1),
         Gate("conflicts", "bank conflicts a request", "{:.1f}", -1),
         Gate("bytes_per_request", "bytes a request", "{:.0f}", 0, most=False),
         Gate("atomics_per_input", "atomic sectors per input", "{:.2f}", -1),
         Gate("under_way", "bytes under way a block", "{:,.0f}", 0, most=False),
         Gate("loads_first", "loads before a thread's first store", "{:.1f}", 0, most=False),
         Gate("launches", "launches", "{:.0f}", 0),
         Gate("blocks", "blocks of the smallest launch", "{:,.0f}", 0, most=False),
         Gate("workspace", "bytes of workspace written", "{:.0f}", -1))
