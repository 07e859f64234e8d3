# SPDX-License-Identifier: MIT
"""days asm: what nvcc makes of a kernel: registers, spills, blocks a multiprocessor, and each line's instructions. No GPU."""
from __future__ import annotations

import textwrap
from pathlib import Path

from days_cli import (arguments, catalog, console, nvcc_code, outputs, own_triton, paths, python_setup, sass, toolchain)
from days_cli.errors import WRONG, DaysError

USAGE = "DAY [VARIANT]"
SUMMARY = "what nvcc made of it: registers, spills, loads"
HELP = """./days asm DAY              registers, spills, loads of all variants
./days asm DAY VARIANT      and each source line's instructions
./days asm DAY RUNG --mine  of your my/dayNN_RUNG.cu
./days asm --file k.cu      any CUDA source [-I... -D... -std=...]
./days asm --file k.py      a Triton file, whose main() or launch() starts it

  --arch 75|80|90a|...      for this architecture (default 90a)
  --kernel TEXT             kernels whose name holds TEXT, such as "float, 4"
  --threads N               threads a block, where the kernel does not say
  --lines TEXT              the lines of the first kernel whose name holds it
  --size 1000003, --type T  of a Python day: compiled for these arguments
  --stage ttir|ttgir|ptx    of a Python day: what Triton's stage makes of it
  --json [FILE]             all of it as JSON, on standard output without FILE
  --color auto|always|never

Needs nvcc and nvdisasm, of a CUDA toolkit or of NVIDIA's wheels, and no GPU.
What the words mean: docs/asm.md"""

_SHOWN = 16  # kernels of a table


def run(args):
    given = _parse(list(args))
    if given.get("--help"):
        console.say(HELP)
        return 0
    outputs.check_json(given.get("--json"), "asm")
    arch = nvcc_code.architecture(given.get("--arch", "90a"))
    threads = _threads(given.get("--threads"))
    if given.get("--file"):
        if given.words:
            raise DaysError(f'asm --file takes no day: "{given.words[0]}"', "./days asm --help")
        source = arguments.own_source(given.get("--file"), "asm")
        if source.suffix == ".py":
            return _triton_file(str(source), given, arch, threads)
        kernels = nvcc_code.compiled([source], arch, given.compiler)
        return _show(str(source), {"": kernels}, given, arch, threads, lines=True)
    if not given.words:
        raise DaysError("asm of which day?", "./days asm 1")
    if given.get("--mine") and len(given.words) < 2:
        raise DaysError("--mine goes with a rung, or the word exercise", f"./days asm {given.words[0]} exercise --mine")
    day = catalog.resolve(given.words[0], "asm")
    made = day.kind.does.asm(day, given, arch)
    return _show(made.title, made.kernels, given, made.arch, threads, made.lines, day, made.by) if made else 0


def _parse(args):
    compiler, plain = [], []
    for argument in arguments.json_alone(args):
        (compiler if argument.startswith(("-I", "-D", "-std=")) else plain).append(argument)
    given = arguments.parse("asm", plain, {"--arch": None, "--kernel": None, "--threads": None, "--lines": None,
                                           "--json": None, "--file": None, "--size": None, "--type": None,
                                           "--stage": ("ttir", "ttgir", "llir", "ptx")}, ("--mine",), 2)
    if compiler and not given.get("--file"):
        raise DaysError(f"{compiler[0]} goes with --file", "./days asm --help")
    given.compiler = compiler
    return given


def _threads(text):
    if text is None:
        return 0
    if not text.isdecimal() or not 1 <= int(text) <= 1024:
        raise DaysError(f'--threads is a number from 1 to 1024, not "{text}"', "./days asm --help")
    return int(text)


def _triton_file(name, given, arch, threads):
    """The same of a file of one's own."""
    wrong = next((flag for flag in ("--size", "--type") if given.get(flag)), (given.compiler or [""])[0])
    if wrong:
        raise DaysError(f"asm --file of a Triton file takes no {wrong}: its main() makes the arguments", f"./days asm --file {name}")
    kernels = own_triton.compiled(name, nvcc_code.number(arch), given.get("--stage") or "")
    if given.get("--stage"):
        console.write("".join(kernel["text"].rstrip("\n") + "\n" for kernel in kernels))
        return 0
    return _show(name, {"": list(map(nvcc_code.of_triton, kernels))}, given, str(nvcc_code.number(arch)), threads, True, None, f"Triton {python_setup.ensure().triton}")


# ---- output ----

def _show(title, found, given, arch, threads, lines, day=None, by=""):
    wanted = given.get("--kernel")
    if wanted:
        found = {name: [kernel for kernel in kernels if wanted in kernel.name] for name, kernels in found.items()}
        if not any(found.values()):
            raise DaysError(f'no kernel has "{wanted}" in its name', "./days asm --help")
    if not any(found.values()):
        raise DaysError(f"{title}: there is no kernel in it for sm_{arch}", code=WRONG)
    if given.get("--json"):
        return _json(found, given, arch, threads)
    sm = nvcc_code.number(arch)
    nvcc = toolchain.nvcc()
    by = by or (f"nvcc {toolchain.dotted(nvcc.version)}" if nvcc else "")
    console.say(console.paint(f"{title}: sm_{arch}" + (f", {by}" if by else ""), "bold"))
    if lines:
        _table(next(iter(found.values())), sm, threads)
        kernels = next(iter(found.values()))
        pick = given.get("--lines")
        chosen = [kernel for kernel in kernels if not pick or pick in kernel.name]
        if not chosen:
            raise DaysError(f'no kernel has "{pick}" in its name', "./days asm --help")
        _lines(chosen[0], len(kernels) > 1)
        return 0
    width = max(len(name) for name in found) + 1
    console.say(f"{'variant':<{width}}{'kernels':>8}{'registers':>11}{'spills':>9}{'shared':>10}  widest load, store")
    for name, kernels in found.items():
        if not kernels:
            console.say(f"{name:<{width}}{'none for this architecture':>27}")
            continue
        low, high = min(k.registers for k in kernels), max(k.registers for k in kernels)
        spilled = max(k.spill_stores + k.spill_loads for k in kernels)
        shared = max(k.shared for k in kernels)
        console.say(f"{name:<{width}}{len(kernels):>8}{str(low) if low == high else f'{low}-{high}':>11}"
                    f"{f'{spilled} B' if spilled else 'none':>9}{f'{shared:,} B' if shared else '-':>10}  "
                    f"{_widest(kernels, ('LDG', 'LDGSTS'))}, {_widest(kernels, ('STG',))}")
    console.say()
    everything = [kernel for kernels in found.values() for kernel in kernels]
    _local(everything)
    _serialized(everything)
    console.say(f"Registers of a thread, {sass.REGISTERS_A_MULTIPROCESSOR:,} in a multiprocessor.")
    first = next(name for name, kernels in found.items() if kernels)
    console.say("Lines?  " + console.paint(f"./days asm {day.number} {first}", "cyan"))
    return 0


def _widest(kernels, names):
    """"16 B" of the widest global access of these opcodes among the kernels, "bulk" and "-" where there is another or none."""
    bits = [int(kind.split(".")[1]) for kernel in kernels for kind in kernel.instructions if kind.split(".")[0] in names]
    if bits:
        return f"{max(bits) // 8} B"
    bulk = any(kind.startswith(("UBLKCP", "UTMA")) for kernel in kernels for kind in kernel.instructions)
    return "bulk" if bulk else "-"


def _table(kernels, sm, threads):
    width = min(33, max(len(kernel.name) for kernel in kernels[:_SHOWN]) + 1)
    console.say(f"{'kernel':<{width}}{'threads':>8}{'regs':>5}{'spills':>7}{'shared':>9}  warps in flight")
    for kernel in kernels[:_SHOWN]:
        block = threads or kernel.most_threads
        spilled = kernel.spill_stores + kernel.spill_loads
        shared = f"{kernel.shared:,} B" if kernel.shared else "-"
        name = kernel.name if len(kernel.name) < width else kernel.name[:width - 5] + "... "
        console.say(f"{name:<{width}}{block or '?':>8}{kernel.registers:>5}{f'{spilled} B' if spilled else 'none':>7}{shared:>9}  "
                    + _flight(kernel, sm, block))
    if len(kernels) > _SHOWN:
        console.say(f"... and {len(kernels) - _SHOWN} more: --kernel TEXT chooses, --json has all")
    _local(kernels)
    _serialized(kernels)
    if any(not (threads or kernel.most_threads) for kernel in kernels):
        console.say("?: no __launch_bounds__; --threads N says what the kernel is launched with.")


def _local(kernels):
    """What lies in local memory without a spill is a trip to memory all the same: said where a kernel has some."""
    kept = {kernel.name: kernel.stack for kernel in kernels if kernel.stack and not kernel.spill_stores + kernel.spill_loads}
    if kept:
        name, most = max(kept.items(), key=lambda item: item[1])
        more = f", the most of {len(kept)} kernels" if len(kept) > 1 else ""
        console.say(f"{name if len(name) < 40 else name[:36] + '...'}: {most} B of local memory a thread{more}")
        console.say("without a spill: arrays lie there whose index the compiler does not know.")


def _serialized(kernels):
    """ptxas calls it no warning, and all that wgmma is for is lost."""
    for kernel in kernels:
        if kernel.serialized:
            console.say(console.paint(f"{kernel.name[:60]}: its wgmma run one after the other:", "red"))
            for line in textwrap.wrap(kernel.serialized, console.WIDTH - 4):
                console.say(f"    {line}")


def _flight(kernel, sm, block):
    if not block:
        return "?"
    count, by = sass.blocks(sm, block, kernel.registers, kernel.shared)
    if not by:
        return "?"
    return f"{count * -(-block // 32)}/{sass.most_warps(sm)}: {by}"


def _lines(kernel, named):
    """One row for each line of the kernel, most instructions of a kind that says something first in its row."""
    if not kernel.lines:
        console.say("nvdisasm gives no lines for it.")
        return
    console.say()
    total = kernel.instructions
    groups = sass.grouped(total)
    if named:
        console.say(console.paint(f"Lines of {kernel.name}"[:console.WIDTH], "bold"))
    console.say(f"{sum(total.values())} instructions: " + ", ".join(
        f"{groups[name]} {name}" for name in [*(name for name, _ in sass.GROUPS), "other"] if groups[name]))
    file = None
    for (path, number), counts in sorted(kernel.lines.items(), key=lambda item: (sass.relative(item[0][0], paths.ROOT), item[0][1])):
        where = sass.relative(path, paths.ROOT) if path else "(no line)"
        if where != file:
            console.say(console.paint(where, "cyan"))
            file = where
        words = sass.notable(counts) or "-"
        code = _source_line(path, number)
        row = f"{number:>5}{sum(counts.values()):>6}  "
        room = console.WIDTH - len(row) - 2
        left = max(24, room - len(words))
        code = code if len(code) <= left else code[:left - 3] + "..."
        if len(code) + len(words) <= room:
            console.say(row + code + " " * (room - len(code) - len(words) + 2) + words)
        else:
            console.say(row + code)
            for line in console.wrap(words.replace(" ", "\N{NO-BREAK SPACE}").replace(",\N{NO-BREAK SPACE}", ", "), " " * len(row + "    ")):
                console.say(line.replace("\N{NO-BREAK SPACE}", " "))


def _source_line(path, number):
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()[number - 1].strip()
    except (OSError, IndexError):
        return ""


def _json(found, given, arch, threads):
    sm = nvcc_code.number(arch)
    out = {"architecture": arch, "variants": []}
    for variant, kernels in found.items():
        rows = []
        for kernel in kernels:
            block = threads or kernel.most_threads
            count, by = sass.blocks(sm, block, kernel.registers, kernel.shared) if block else (0, "")
            rows.append({
                "name": kernel.name, "registers": kernel.registers, "stack_bytes": kernel.stack,
                "spill_store_bytes": kernel.spill_stores, "spill_load_bytes": kernel.spill_loads,
                "shared_bytes": kernel.shared, "barriers": kernel.barriers,
                **({"threads": block, "blocks_per_multiprocessor": count, "limited_by": by} if by else {}),
                "instructions": dict(sorted(kernel.instructions.items())),
                "lines": [{"file": sass.relative(path, paths.ROOT), "line": number, "instructions": dict(sorted(counts.items()))}
                          for (path, number), counts in sorted(kernel.lines.items())]})
        out["variants"].append({"variant": variant, "kernels": rows})
    outputs.put_json(given.get("--json"), out)
    return 0
