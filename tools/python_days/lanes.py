# SPDX-License-Identifier: MIT
"""Which lane of a warp asks for which element. Triton's compiler says of each access how its block is dealt out (the layouts of ttgir), and how
many neighbours one instruction takes (the assembly within llir): of_kernel() reads both, in the compiler's process. The interpreter, which has
no warps, knows the addresses: Dealing groups them into the requests of warps, for watch.py to count sectors of."""
from __future__ import annotations

import math
import re
import sys
import tempfile
from dataclasses import dataclass

_OPERATIONS = {"tt.load": "load", "ttg.async_copy_global_to_local": "load", "tt.store": "store"}
_WIDTH = re.compile(r"(?<!\.)(ld|st)\.global[\w:.]*?(?:\.v(\d))?\.b(\d+)\b")
_COPY = re.compile(r"cp\.async\.\w+\.shared\.global \[[^\]]*\], \[[^\]]*\], 0x([0-9a-f]+)")


# ---- in the compiler's process ----

def of_kernel(ttgir, llir):
    """[{op, at, shape, size, width, registers, lanes, warps}] of a kernel's loads and stores, in the code's order. at: [line, column], and of
    what called, outwards; size: bytes of an element; width: elements of one instruction. The others are the elements, by their number in the
    block, that one more binary digit of a register's, lane's or warp's number leads to: a digit that leads nowhere is left out of registers, and
    is 0 in the others, as all that differ in it have the same element."""
    asked, found = {}, []
    for op, bits, at in _instructions(llir):
        asked.setdefault((op, at), []).append(bits)
    for access in _dealt(ttgir):
        bits = asked.get((access["op"], tuple(map(tuple, access["at"]))), [])
        if bits:
            whole = 8 * access["size"] << len(access["registers"])
            found.append({**access, "width": min(bits[0], whole) // (8 * access["size"])})
            if len(bits) * bits[0] > whole:  # what follows belongs to the next access of this place
                del bits[:max(1, whole // bits[0])]
    return found


def parsed(ttgir):
    """(context, module) of a text of the compiler's."""
    from triton._C.libtriton import ir, nvidia
    context = ir.context()
    ir.load_dialects(context)
    nvidia.load_dialects(context)
    with tempfile.NamedTemporaryFile("w", suffix=".ttgir") as file:
        file.write(ttgir)
        file.flush()
        module = ir.parse_mlir_module(file.name, context)
    module.context = context
    return context, module


def _dealt(ttgir):
    from triton._C.libtriton import gluon_ir
    context, module = parsed(ttgir)
    warps = module.get_int_attr("ttg.num-warps")
    builder, places, found = gluon_ir.GluonOpBuilder(context), _places(ttgir), []

    def look(operation):
        op = _OPERATIONS.get(operation.get_name())
        if op:
            found.append({"op": op, "at": next(places), **_layout(builder, operation.get_operand(0), warps)})
    module.walk(look)
    return found


def _layout(builder, pointers, warps):
    """How a block of pointers is dealt out; a single one is in all lanes of so many warps."""
    shape = re.match(r"tensor<([\dx]+)x!tt\.ptr<\w*?(\d+)", str(pointers.get_type()))
    if not shape:
        bits = int(re.search(r"!tt\.ptr<\w*?(\d+)", str(pointers.get_type()))[1])
        return {"shape": [], "size": max(bits, 8) // 8, "registers": [], "lanes": [0] * 5,
                "warps": [0] * (warps.bit_length() - 1)}
    extents = list(map(int, shape[1].split("x")))
    layout = builder.get_gluon_layout_from_tensor(pointers)
    linear = builder.to_linear_layout(layout._to_ir(builder), extents)

    def flat(bases):
        numbers = []
        for base in bases:
            number = 0
            for place, extent in zip(base, extents):
                number = number * extent + place
            numbers.append(number)
        return numbers
    return {"shape": extents, "size": max(int(shape[2]), 8) // 8, "registers": [one for one in flat(linear.reg_bases) if one],
            "lanes": flat(linear.lane_bases), "warps": flat(linear.warp_bases)}


def _places(ttgir):
    """The places of a module's accesses, in the text's order: a list of [line, column], from the access outwards."""
    named = dict(re.findall(r"^(#loc\w*) = loc\((.*)\)$", ttgir, re.MULTILINE))

    def told(text):
        if text in named:
            return told(named[text])
        call = re.match(r"callsite\((.*) at (.*)\)$", text)
        if call:
            return told(call[1]) + told(call[2])
        place = re.match(r'"[^"]*":(\d+):(\d+)$', text)
        if place:
            return [[int(place[1]), int(place[2])]]
        name = re.match(r'"[^"]*"\((.*)\)$', text)
        return told(name[1]) if name else []
    names = "|".join(map(re.escape, _OPERATIONS))
    for line in ttgir.splitlines():
        if re.search(rf"(?:^|= )\s*(?:{names}) ", line):
            place = re.search(r" loc\((.*)\)$", line)
            yield told(place[1]) if place else []


def _instructions(llir):
    """(load or store, bits, place) of each access of global memory that the assembly within a module makes, in its order."""
    places = {name: (int(line), int(column), outer) for name, line, column, outer in re.findall(
        r"^(!\d+) = (?:distinct )?!DILocation\(line: (\d+), column: (\d+), scope: !\d+(?:, inlinedAt: (!\d+))?\)", llir, re.MULTILINE)}
    for line in llir.splitlines():
        at, width, copy = re.search(r"!dbg (!\d+)", line), _WIDTH.search(line), _COPY.search(line)
        if not at or not (width or copy):
            continue
        chain, name = [], at[1]
        while name in places:
            chain.append(places[name][:2])
            name = places[name][2]
        yield ("load", 8 * int(copy[1], 16), tuple(chain)) if copy else \
            ("load" if width[1] == "ld" else "store", int(width[2] or 1) * int(width[3]), tuple(chain))


# ---- beside the interpreter ----

@dataclass
class _Access:
    at: list
    op: str
    count: int  # of the block's elements
    requests: object  # an array (requests, elements of one), the numbers of elements


class Dealing:
    """Of one kernel that is watched: what of_kernel() says of it."""

    def __init__(self, accesses):
        self._accesses = [_Access(one["at"], one["op"], math.prod(one["shape"]), _requests(one)) for one in accesses]
        self._matches, self._visits, self._lines = {}, {}, {}

    def program(self):
        """Another program begins."""
        self._visits.clear()

    def requests(self, op, count, frames):
        """The elements of each request that a warp makes for an access of `count` elements; None where the compiler has no such access
        (a copy by descriptor has no lanes). frames: of the kernel's code, from the access outwards."""
        where = (op, count, *((frame.f_code, frame.f_lasti) for frame in frames))
        if where not in self._matches:
            ranges = [self._range(frame) for frame in frames]
            self._matches[where] = [one for one in self._accesses if one.op == op and one.count == count and one.at and
                                    len(one.at) <= len(ranges) and all(_within(place, of) for place, of in zip(one.at, ranges))]
        matches = self._matches[where]
        if not matches:
            return None
        visit = self._visits[where] = self._visits.get(where, -1) + 1  # an unrolled loop has several accesses at one place
        return matches[visit % len(matches)].requests

    def _range(self, frame):
        """(first line, last line, first column, last column) of the call that a frame is in; before Python 3.11 its line."""
        code = frame.f_code
        if not hasattr(code, "co_positions"):
            return frame.f_lineno, frame.f_lineno, 0, 1 << 20
        if code not in self._lines:
            self._lines[code] = list(code.co_positions())
        first, last, left, right = self._lines[code][frame.f_lasti // 2]
        return (frame.f_lineno, frame.f_lineno, 0, 1 << 20) if None in (first, last, left, right) else (first, last, left, right)


def _within(place, of):
    first, last, left, right = of
    return (first, left) <= tuple(place) <= (last, right)


def user_frames(ours):
    """The frames of a kernel's own code, from the innermost outwards; ours: beginnings of the names of files that are none."""
    frame, found = sys._getframe(1), []
    while frame:
        if not frame.f_code.co_filename.startswith(ours):
            found.append(frame)
        frame = frame.f_back
    return found


def _spanned(bases):
    """All numbers that digits make: those of 0, 1, 2, ..."""
    import numpy as np
    found = np.zeros(1, np.int64)
    for base in bases:
        found = np.concatenate([found, found ^ base])
    return found


def _requests(access):
    """An array (warps and instructions, lanes and neighbours). Of lanes and warps that have the same elements all load, and one stores."""
    store = access["op"] == "store"
    lanes, warps = (_spanned([base for base in access[which] if base or not store]) for which in ("lanes", "warps"))
    registers = _spanned(access["registers"]).reshape(-1, access["width"])
    whole = warps[:, None, None, None] ^ registers[None, :, None, :] ^ lanes[None, None, :, None]
    return whole.reshape(warps.size * len(registers), -1)
