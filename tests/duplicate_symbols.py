#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Finds functions that two object files of a program both define, and those that a day's kernels want of others.

    duplicate_symbols.py OBJECT... [--alone OBJECT...]

A launcher that two files define is an error of the linker where it is a plain function, but a template's definitions are weak:
the linker keeps one of them and says nothing, and the table then shows one kernel under two names. This looks for weak
functions of a namespace dayNN that more than one object defines with different code, and prints where. Exit code 1 if there
is one, 2 if an object cannot be read.

A weak function that several files include from one header is the same in all of them and is left out. Whether it is the same
is told by the file of its definition, where the objects have line information, and by its instructions and the symbols that
they refer to: two launchers of different kernels differ at least in those.

The objects after --alone are a day's kernels and the course's core. Whoever uses the day's kernels links these and nothing else, so
what they call of the course one of them must define.
"""
import argparse
import collections
import re
import subprocess
import sys

# "0000000000000000 000000000000004d W _ZN5day055naiveIfEEv...\t/path/02_x.cu:17"
LINE = re.compile(r"^[0-9a-f]+ (?P<size>[0-9a-f]+) (?P<kind>[TWV]) (?P<name>[^\t]*)(?:\t(?P<place>.*):\d+)?$")
OWN = re.compile(r"(^|[\s(])day\d\d::")
# What a ladder calls: launchers take a stream, references and their parallel versions are named so. A helper of a header, such as
# a check of the problem, may be compiled in another way in each object, and nvcc's objects have no lines to tell it by.
CALLED = re.compile(r"CUstream_st\*\)|_(reference|parallel)(<.*>)?\(")
# Not launchers: instantiations of other libraries' templates on the day's types, lambdas, constructors and destructors (the
# compiler makes them where they are missing, otherwise at another level of optimization), and what else it adds.
OTHER = re.compile(r"^(std::|__gnu_cxx::|void std::|testing::)|\{lambda|\(anonymous namespace\)|^(typeinfo|vtable|guard|VTT)"
                   r"|\b(?P<type>\w+)(<.*>)?::~?(?P=type)\(")


def definitions(path):
    """(mangled name, kind, size, file) of each function of a day that the object defines."""
    result = subprocess.run(["nm", "-S", "-l", "--defined-only", path], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        print(f"{path}: {result.stderr.strip() or 'cannot be read'}", file=sys.stderr)
        sys.exit(2)
    matches = [match for match in map(LINE.match, result.stdout.splitlines()) if match]
    for match, name in zip(matches, demangled([match["name"] for match in matches])):
        if OWN.search(name) and CALLED.search(name) and not OTHER.search(name):
            yield match["name"], match["kind"], int(match["size"], 16), match["place"] or ""


def demangled(names):
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    return text.split("\n")


def code(path, symbol):
    """The function's instructions and the symbols in them, without what depends on the place in the object."""
    text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", f"--section=.text.{symbol}", path], capture_output=True,
                          text=True, check=False).stdout
    lines = [line.partition(":")[2].strip() for line in text.splitlines() if re.match(r"\s+[0-9a-f]+:", line)]
    return [re.sub(r"\.(rodata|LC)\S*", ".rodata", line) for line in lines]


def missing(objects):
    """{name: an object that calls it} of the course's functions that none of these defines."""
    called, defined = {}, set()
    for path in objects:
        listed = subprocess.run(["nm", path], capture_output=True, text=True, check=False)
        if listed.returncode != 0:
            print(f"{path}: {listed.stderr.strip() or 'cannot be read'}", file=sys.stderr)
            sys.exit(2)
        for *_, kind, name in map(str.split, listed.stdout.splitlines()):
            if kind in "Uwv":
                called.setdefault(name, path)
            else:
                defined.add(name)
    wanted = sorted(called.keys() - defined)
    return {name: called[symbol] for symbol, name in zip(wanted, demangled(wanted)) if re.search(r"\bday(s|\d\d)::", name)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("objects", nargs="+")
    parser.add_argument("--alone", nargs="+", default=[])
    arguments = parser.parse_args()
    found = collections.defaultdict(list)
    for path in dict.fromkeys(arguments.objects):
        for name, kind, size, place in definitions(path):
            found[name].append((path, kind, size, place))
    bad = 0
    for name, places in sorted(found.items()):
        strong = sum(kind == "T" for _, kind, _, _ in places)
        files = {place for _, _, _, place in places}
        one_header = len(files) == 1 and re.search(r"\.(h|cuh)$", min(files))
        if len(places) < 2 or one_header or (
                strong < 2 and len(files) == 1 and len({str(code(path, name)) for path, _, _, _ in places}) == 1):
            continue
        bad += 1
        print(f"error: {demangled([name])[0]} is defined {len(places)} times:")
        for path, _, size, place in places:
            print(f"  {place or path}  ({size} bytes in {path})")
    for name, path in missing(arguments.alone).items():
        bad += 1
        print(f"error: {path} calls {name}, which is no kernel's: nobody could link the day's kernels by themselves")
    print(f"{len(found)} functions in {len(arguments.objects)} objects, {bad} errors")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
