#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many instructions a thread of an elementwise rung starts for one element, as nvcc compiles it. No GPU.

    tools/instructions.py 9                 all rungs of day 09, in each of their types
    tools/instructions.py 9 vectors         one
    tools/instructions.py 9 vectors --fast  one in fp32, by each of the flags that -use_fast_math stands for

Counted in nvdisasm's listing: the shortest way from a thread's start to its last store without a call (the slow path of a
division is one), divided by the elements that it stores. A kernel that stores in a loop has a "-". MUFU are the special function
unit's.
"""
import re
import subprocess
import sys
from collections import deque
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))
from days_cli import catalog, ladders, nvcc_code, paths, settings, toolchain  # noqa: E402
from days_cli.errors import DaysError  # noqa: E402

FLAGS = ("", "-fmad=false", "-prec-sqrt=false", "-ftz=true", "-prec-div=false", "-ftz=true -prec-div=false", "-use_fast_math")
_LABEL = re.compile(r"^(\.L_x_\d+):")
_CODE = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)([^;]*);")
_BYTES = {"fp32": 4, "fp16": 2, "bf16": 2}
_TYPE = (("__nv_bfloat16", "bf16"), ("__half", "fp16"), ("float", "fp32"))


def listings(source, flags, arch="90a"):
    """{demangled name: nvdisasm's lines} of the kernels of a file."""
    command, disassembler = nvcc_code.tools(int(arch[:2]), True)
    cubin = paths.BUILD / "asm" / f"instructions-{source.stem}.cubin"
    cubin.parent.mkdir(parents=True, exist_ok=True)
    nvcc_code.call([*command, "-std=" + settings.load()["cxx"]["standard"], "-O3", f"-arch=sm_{arch}", "-cubin", "-I" + str(ROOT), *flags,
              source, "-o", cubin], f"nvcc {source}")
    kernels, lines = {}, None
    for line in nvcc_code.call([disassembler, "-c", cubin], "nvdisasm").splitlines():
        match = re.match(r"^\.text\.(\S+):", line)
        if match:
            name = subprocess.run(["c++filt", match[1]], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
            lines = kernels.setdefault(name, [])
        elif lines is not None:
            lines.append(line)
    cubin.unlink()
    return kernels


def way(lines):
    """The opcodes of the shortest way to the last store without a call; None where it may go round a loop, or there is no store."""
    code, at = [], {}
    for line in lines:
        label, found = _LABEL.match(line), _CODE.match(line)
        if label:
            at[label[1]] = len(code)
        elif found and found[2] != "NOP":
            code.append((bool(found[1]), found[2], found[3]))
    stores = [i for i, (_, opcode, _) in enumerate(code) if opcode.startswith("STG")]
    wide = [i for i in stores if "128" in code[i][1]] or stores
    if not wide:
        return None
    after, ahead = [[] for _ in code], [[] for _ in code]
    for i, (sometimes, opcode, operands) in enumerate(code):
        following = [i + 1] if sometimes or not re.match(r"EXIT|BRA|RET|CALL", opcode) else []
        if opcode.startswith("BRA"):
            following.append(at[re.search(r"\.L_x_\d+", operands)[0]])
        after[i] = [j for j in following if j < len(code)] if not opcode.startswith("CALL") else []
        for j in after[i]:
            ahead[j].append(i)
    before = _search(0, after)
    on_the_way = before.keys() & _search(wide[-1], ahead).keys()
    if 0 not in on_the_way or any(j <= i and j in on_the_way for i in on_the_way for j in after[i]):
        return None
    path, i = [], wide[-1]
    while i is not None:
        path.append(code[i][1])
        i = before[i]
    return path[::-1]


def _search(start, following):
    """{reached: from where}, nearest first."""
    before, queue = {start: None}, deque([start])
    while queue:
        i = queue.popleft()
        for j in following[i]:
            if j not in before:
                before[j] = i
                queue.append(j)
    return before


def counted(source, flags=()):
    """{type: (instructions, MUFU, calls in the kernel)} for an element."""
    result = {}
    for name, lines in listings(source, flags).items():
        arguments = re.search(r"<([^>]*)>", name)
        kind = next((kind for text, kind in _TYPE if text in (arguments[1] if arguments else name)), None)
        if kind is None:
            continue
        path = way(lines)
        if path is None:
            continue
        each = sum(16 if "128" in opcode else _BYTES[kind] for opcode in path if opcode.startswith("STG")) // _BYTES[kind]
        calls = any(re.search(r"\bCALL\b", line) for line in lines)
        result[kind] = len(path) / each, sum(opcode.startswith("MUFU") for opcode in path) / each, calls
    return result


def main(words):
    fast, words = "--fast" in words, [word for word in words if word != "--fast"]
    if not 1 <= len(words) <= 2 or (fast and len(words) == 1):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    day = catalog.resolve(words[0], "asm")
    files = {name: path for name, path in ladders.files(day).items() if path.name[:2].isdecimal()}
    if len(words) == 2 and words[1] not in files:
        raise DaysError(f'day {day.label} has no rung "{words[1]}"', f"./days list {day.number}")
    version = toolchain.dotted(toolchain.nvcc().version)
    print(f"Day {day.label}: instructions for an element, sm_90a, nvcc {version}")
    if fast:
        print(f"{words[1] + ', fp32':<28} all  MUFU  division's slow path")
        for flags in FLAGS:
            found = counted(files[words[1]], flags.split())
            if "fp32" not in found:
                raise DaysError(f"{words[1]} has no fp32, or stores in a loop", f"./days asm {day.number} {words[1]}")
            instructions, mufu, calls = found["fp32"]
            print(f"{flags or '(no flag)':<26}{instructions:>5.1f}{mufu:>6.1f}  {'yes' if calls else 'none'}")
        return 0
    print(f"{'':<16}{'fp32':>6}{'fp16':>6}{'bf16':>6}   MUFU: fp32  fp16  bf16")
    for name, path in files.items():
        if len(words) == 2 and name != words[1]:
            continue
        found = counted(path)
        row = lambda which: "".join(f"{found[kind][which]:>6.1f}" if kind in found else f"{'-':>6}" for kind in _BYTES)  # noqa: E731
        print(f"{name:<16}{row(0)}       {row(1)}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except DaysError as error:
        print(f"error: {error}\nNext: {error.hint}" if error.hint else f"error: {error}", file=sys.stderr)
        sys.exit(error.code)
