# SPDX-License-Identifier: MIT
"""What nvcc made of a kernel: ptxas' report and nvdisasm's listing as numbers, and how many blocks a multiprocessor holds."""
from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Tuple

REGISTERS_A_MULTIPROCESSOR = 65536  # of 32 bits, on every architecture since 3.0
_REGISTERS_A_UNIT = 256  # a warp gets its registers in units of so many
_SHARED_UNIT = 128  # bytes

# CUDA Programming Guide, "Technical Specifications per Compute Capability":
# threads, blocks and KiB of shared memory a multiprocessor, and the KiB that the system takes of each block's.
_MULTIPROCESSOR = {
    75: (1024, 16, 64, 0), 80: (2048, 32, 164, 1), 86: (1536, 16, 100, 1), 87: (1536, 16, 164, 1), 89: (1536, 24, 100, 1),
    90: (2048, 32, 228, 1), 100: (2048, 32, 228, 1), 103: (2048, 32, 228, 1), 120: (1536, 24, 100, 1), 121: (1536, 24, 100, 1),
}


@dataclass
class Kernel:
    mangled: str
    name: str  # registers_kernel<float, 512, 4>
    registers: int = 0  # a thread
    stack: int = 0  # bytes a thread
    spill_stores: int = 0  # bytes a thread
    spill_loads: int = 0
    shared: int = 0  # static, bytes a block
    barriers: int = 0
    serialized: str = ""  # why ptxas lets its warpgroups' products wait for each other
    most_threads: int = 0  # __launch_bounds__; 0: not given
    lines: Dict[Tuple[str, int], Counter] = field(default_factory=dict)  # (file, line) -> {"LDG.128": 4, ...}

    @property
    def instructions(self):
        total = Counter()
        for counts in self.lines.values():
            total += counts
        return total


def blocks(sm, threads, registers, shared):
    """(blocks that a multiprocessor of this architecture holds at the same time, what limits them); (0, why) where none fits.

    threads and shared (bytes, static and dynamic) are a block's, registers a thread's. (0, "") for an unknown architecture.
    """
    if sm not in _MULTIPROCESSOR:
        return 0, ""
    most_threads, most_blocks, kib, reserved = _MULTIPROCESSOR[sm]
    warps = -(-threads // 32)
    a_warp = -(-max(registers, 1) * 32 // _REGISTERS_A_UNIT) * _REGISTERS_A_UNIT
    shared += reserved * 1024
    limits = {"blocks": most_blocks, "threads": most_threads // 32 // warps,
              # Each of the four schedulers has a quarter of the registers, and whole warps live there.
              "registers": REGISTERS_A_MULTIPROCESSOR // 4 // a_warp * 4 // warps,
              "shared": kib * 1024 // (-(-shared // _SHARED_UNIT) * _SHARED_UNIT) if shared else most_blocks}
    by = min(limits, key=limits.get)
    return limits[by], by


def most_warps(sm):
    return _MULTIPROCESSOR[sm][0] // 32 if sm in _MULTIPROCESSOR else 0


def shared_memory(sm):
    """Bytes of shared memory that a multiprocessor has; 0 for an unknown architecture."""
    return _MULTIPROCESSOR[sm][2] << 10 if sm in _MULTIPROCESSOR else 0


def short_name(demangled):
    """registers_kernel<float, 512> of (anonymous namespace)::registers_kernel<float, 512>(float const*, int)."""
    text = re.sub(r"\(anonymous namespace\)::|\b_GLOBAL__N__\w+::", "", demangled.strip())
    text = re.sub(r"\b\w+::(?=\w)|^void ", "", text)
    depth, end = 0, len(text)
    for i, character in enumerate(text):  # up to the arguments
        if character == "(" and depth == 0 and i > 0:
            end = i
            break
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(character, 0)
    text = text[:end]
    text = re.sub(r"\((?:bool|int|unsigned int|long)\)", "", text)
    return text.replace("__nv_bfloat16", "bf16").replace("__half", "half").replace("unsigned char", "uint8_t")


def read_ptxas(text):
    """{mangled name: Kernel} of what `ptxas -v` says; names are not demangled yet."""
    kernels, kernel = {}, None
    for line in text.splitlines():
        match = re.search(r"Compiling entry function '(\S+)'", line)
        if match:
            kernel = kernels.setdefault(match.group(1), Kernel(match.group(1), match.group(1)))
            continue
        if re.search(r"Function properties for (\S+)", line):
            name = re.search(r"Function properties for (\S+)", line).group(1)
            kernel = kernels.get(name.strip("'"))
            continue
        if kernel is None:
            continue
        match = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)
        if match:
            kernel.stack, kernel.spill_stores, kernel.spill_loads = map(int, match.groups())
        match = re.search(r"Used (\d+) registers", line)
        if match:
            kernel.registers = int(match.group(1))
            shared, barriers = re.search(r"(\d+) bytes smem", line), re.search(r"used (\d+) barriers", line)
            kernel.shared = int(shared.group(1)) if shared else 0
            kernel.barriers = int(barriers.group(1)) if barriers else 0
    for why, name in re.findall(r"wgmma\.mma_async instructions are serialized due to (.*?) in the function '(\S+)'", text):
        if name in kernels:
            kernels[name].serialized = why
    return kernels


# The opcodes that a reader looks for: name, and whether its width is part of it.
_WIDE = ("LDG", "STG", "LDS", "STS", "LDL", "STL", "LD", "ST", "LDSM", "STSM", "LDGSTS")
_NARROW = {"U8": "8", "S8": "8", "U16": "16", "S16": "16", "64": "64", "128": "128"}


def kind(instruction):
    """What an instruction counts as: LDG.128, STS.32, LDL.32, BAR, MUFU.EX2, FFMA, HMMA, HGMMA, ...: its opcode without details."""
    opcode = instruction.split()[0].rstrip(";")
    name, *details = opcode.split(".")
    if name in _WIDE:
        if name in ("LDSM", "STSM"):
            number = next((d for d in details if d in ("1", "2", "4")), next((d for d in details if d.startswith("M")), "1"))
            return f"{name}.x{number}" if number.isdigit() else f"{name}.x1"
        if name == "LDGSTS":
            return "LDGSTS." + next((_NARROW[d] for d in details if d in _NARROW), "32")
        return f"{name}." + next((_NARROW[d] for d in details if d in _NARROW), "32")
    if name == "IMAD" and details and details[0] in ("MOV", "SHL", "IADD"):
        return f"IMAD.{details[0]}"  # a copy, a shift or a sum: it borrows the multiplier
    if name == "MUFU" and details:
        return f"MUFU.{details[0]}"
    if name in ("HMMA", "IMMA", "QMMA", "HGMMA", "IGMMA", "QGMMA", "DMMA"):
        shape = next((d for d in details if re.fullmatch(r"\d+x?\w*", d) and len(d) >= 3), "")
        return f"{name}.{shape}" if shape else name
    return name


# A column of the table each, in this order; everything else is "other".
GROUPS = (
    ("global", re.compile(r"(LDG|STG|LD|ST|RED|REDG|ATOM|ATOMG|LDGSTS|UBLKCP|UBLKRED|UTMALDG|UTMASTG|UTMAREDG)(\.|$)")),
    ("texture", re.compile(r"(TEX|TLD|TLD4|TXD)(\.|$)")),
    ("shared", re.compile(r"(LDS|STS|LDSM|STSM|ATOMS)(\.|$)")),
    ("spilled", re.compile(r"(LDL|STL)(\.|$)")),
    ("tensor", re.compile(r"(HMMA|IMMA|QMMA|DMMA|HGMMA|IGMMA|QGMMA)(\.|$)")),
    ("float", re.compile(r"(FFMA|FADD|FMUL|FMNMX|FFMA2|HFMA2|HADD2|HMUL2|HMNMX2|DFMA|DADD|DMUL|FSEL|FSETP|FSET)(\.|$)")),
    ("MUFU", re.compile(r"MUFU")),
    ("wait", re.compile(r"(BAR|SHFL|VOTE|VOTEU|MATCH|REDUX|WARPSYNC|SYNCS|UCGABAR|MEMBAR|DEPBAR|LDGDEPBAR|WARPGROUP|NANOSLEEP)")),
)


def grouped(counts):
    """{group: instructions} of a Counter of kinds, with "other" for what no group has."""
    result = Counter()
    for name, count in counts.items():
        result[next((group for group, pattern in GROUPS if pattern.match(name)), "other")] += count
    return result


def notable(counts):
    """The kinds of a Counter that say something, most telling first: "4 LDG.128, 8 MUFU.EX2"."""
    order = [name for name, _ in GROUPS]
    rank = lambda name: next((i for i, (_, pattern) in enumerate(GROUPS) if pattern.match(name)), len(order))
    shown = sorted((name for name in counts if rank(name) < len(order)), key=lambda name: (rank(name), -counts[name], name))
    return ", ".join(f"{counts[name]} {name}" for name in shown)


_FILE = re.compile(r'//## File "([^"]+)", line (\d+)(?: inlined at "([^"]+)", line (\d+))?')
_TEXT = re.compile(r"^\.text\.(\S+):")
_CODE = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*[^;]*);")


def read_nvdisasm(text, kernels):
    """Adds to each Kernel its instructions by source line, from `nvdisasm -gi -c`.

    An instruction of an inlined helper counts at the line of the kernel's own code that called it: nvdisasm prints the chain
    from the inside out, and its last entry is taken. `@!PT` is never true: ptxas puts such loads before an LDGSTS.
    """
    kernel, place = None, ("", 0)
    for line in text.splitlines():
        match = _TEXT.match(line)
        if match:
            kernel, place = kernels.get(match.group(1)), ("", 0)
            continue
        match = _FILE.search(line)
        if match:
            file, number, outer, at = match.groups()
            place = (outer, int(at)) if outer else (file, int(number))
            continue
        match = _CODE.match(line)
        if match and kernel is not None and match.group(1) != "NOP" and "@!PT " not in line:
            kernel.lines.setdefault(place, Counter())[kind(match.group(1))] += 1
    return kernels


_LABEL = re.compile(r"^(\.L_x_\d+):")
_JUMP = re.compile(r"^BRA(?:\.\w+)* .*`\((\.L_x_\d+)\)")
_LOADED = re.compile(r"^LDG\S* (?:P\w+, )?R(\d+)")


def loads_before_barrier(text):
    """Loads from global memory, of the loop that has most of them, that are under way across its last barrier: asked for before it, and read
    by nobody until it has passed. text: nvdisasm's listing of one kernel."""
    code, labels, most = [], {}, 0
    for line in text.splitlines():
        label, match = _LABEL.match(line), _CODE.match(line)
        if label:
            labels[label.group(1)] = len(code)
        elif match:
            code.append(match.group(1))
            jump = _JUMP.match(match.group(1))
            if jump and jump.group(1) in labels:
                most = max(most, _under_way(code[labels[jump.group(1)]:]))
    return most


def _under_way(loop):
    """Of a loop's instructions."""
    barriers = [number for number, instruction in enumerate(loop) if instruction.startswith("BAR.")]
    waiting = []  # the registers of each load that nobody has read
    for instruction in loop[:barriers[-1]] if barriers else ():
        named = set(map(int, re.findall(r"\bR(\d+)\b", instruction)))
        waiting = [registers for registers in waiting if not registers & named]
        loaded = _LOADED.match(instruction)
        if loaded:
            first, width = int(loaded.group(1)), int(kind(instruction).partition(".")[2])
            waiting.append(set(range(first, first + max(1, width // 32))))
    return len(waiting)


def launch_bounds(elf_text):
    """{mangled name: threads a block at most} from nvdisasm's listing of a whole file: EIATTR_MAX_THREADS, three words."""
    result, name = {}, None
    lines = iter(elf_text.splitlines())
    for line in lines:
        match = re.search(r"\.section\s+\.nv\.info\.([^\s,]+),", line)
        if match:
            name = match.group(1)
        elif "EIATTR_MAX_THREADS" in line and name:
            words = []
            for line in lines:
                found = re.search(r"\.word\s+(.*)", line)
                if found:
                    words += [int(word, 16) for word in re.findall(r"0x([0-9a-f]+)", found.group(1))]
                if len(words) >= 3 or "nvinfo" in line:
                    break
            if len(words) >= 3:
                result[name] = words[0] * words[1] * words[2]
    return result


def relative(path, root):
    """A file of nvdisasm's listing as the project names it; its own name where it is outside."""
    try:
        return Path(path).resolve().relative_to(root).as_posix()
    except ValueError:
        return Path(path).name
