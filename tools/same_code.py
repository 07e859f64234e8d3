#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tells recorded results whose kernels were rewritten, but compile to what was measured, from those of other kernels.

    tools/same_code.py [DAY ...]       needs nvcc and the commits that the results are of; takes minutes a day

A result keeps a number of its kernel's text (tools/days_cli/kernel_sources.py), and counts as stale once that differs. Where it
does, this compiles the kernel's files as they were at the result's commit and as they are now, for the architecture that was
measured, and compares the machine code of all their kernels, whatever they are called. Where one has all that the other has, the result gets
today's number beside its own (`same`), and its mark goes. The host's side (grid and block of a launch) is not compared:
who changes that measures again. A result without a number gets that of its commit first."""
import contextlib
import json
import re
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from days_cli import kernel_sources, results, settings, stale  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent


def kernels_of(cubin):
    """The machine code of each kernel in an ELF file, sorted."""
    data = cubin.read_bytes()
    start, size, count, names = struct.unpack_from("<Q", data, 40) + struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, start + i * size) for i in range(count)]
    strings = headers[names][4]
    return sorted(data[at:at + length] for name, _, _, _, at, length in headers
                  if data[strings + name:].startswith(b".text."))


def architecture(sm):
    """sm_90 -> sm_90a, as the results' programs are built"""
    return "sm_" + settings.load()["cuda"]["feature_architectures"].get(sm[3:], sm[3:])


def compiled(tree, files, arch):
    """The machine code of the files' kernels in the clone at `tree`; None where they do not compile."""
    with tempfile.TemporaryDirectory() as folder:
        return _compiled(tree, files, arch, Path(folder) / "kernels.cubin")


def _compiled(tree, files, arch, cubin):
    code = []
    for file in files:
        done = subprocess.run(["nvcc", "-cubin", f"-arch={arch}", "-O3", "-std=c++20", "-I.", "-o", str(cubin), file], cwd=tree,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, check=False)
        if done.returncode:
            print(f"{file} does not compile: {done.stdout.strip().splitlines()[0]}")
            return None
        code += kernels_of(cubin)
    return sorted(code)


def holds(day, rows):
    """(commit, its Tree) of the newest commit of this clone that has the kernel of a row that is stale now, or None: the
    results' own commit may be of a branch that was rebased."""
    gone = {(row.get("variant") or row["name"], row.get("source")) for row in rows}
    gone = {(name, number) for name, number in gone if number and number != stale.kernels(day).number(name)}
    commits = subprocess.run(["git", "-C", str(ROOT), "log", "--format=%H", "--", day], check=True, stdout=subprocess.PIPE,
                             universal_newlines=True).stdout.split()
    for commit in commits if gone else ():
        tree = kernel_sources.of_commit(ROOT, commit)
        kernels = kernel_sources.Day(tree, day)
        if any(kernels.number(name) == number for name, number in gone):
            return commit, tree
    return None


@contextlib.contextmanager
def files_of(commit, day):
    """A folder with common/ and the day as they were at a commit, for a while."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "-C", str(ROOT), "archive", commit, "common", day], check=True, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        yield Path(folder)


def stamped(day, rows, sm):
    """Stamps rows that were found the same before (`same`), and whose kernel was rewritten again since: compared with the newest
    commit that has the number. ({rungs that are the same}, the rows that are left to judge)."""
    new, good, left, last = stale.kernels(day), set(), [], {}
    for row in rows:
        name = row.get("variant") or row["name"]
        number = row.get("same")
        if number is None or number == new.number(name) or new.variant(name) is None:
            left += [row] if number is None else []
            continue
        if number not in last:
            last[number] = holds(day, [{"name": name, "source": number}])
        if last[number] is None:
            left.append(row)
            continue
        commit, then = last[number]
        with files_of(commit, day) as tree:
            files = tuple(kernel_sources.Day(then, day).files(name)), tuple(new.files(name))
            if same(day, tree, *files, architecture(sm)):
                row["same"] = new.number(name)
                good.add(name)
            else:
                left.append(row)
    return good, left


def judge(day, rows, commit, sm):
    """Stamps these rows of results of a commit; ({rungs that are the same}, {rungs that are others})."""
    again, rows = stamped(day, rows, sm)
    good, bad = judge_others(day, rows, commit, sm) if rows else (set(), set())
    return good | again, bad


def judge_others(day, rows, commit, sm):
    """The same of rows that nobody has compared yet."""
    then = kernel_sources.of_commit(ROOT, commit)
    if then is None:
        found = holds(day, rows)
        if found is None:
            print(f"{day}: this clone has no commit {commit[:7]}, nor another with its kernels")
            return set(), {row.get("variant") or row["name"] for row in rows}
        commit, then = found
    old, new = kernel_sources.Day(then, day), stale.kernels(day)
    verdicts = {}
    with files_of(commit, day) as tree:
        for row in rows:
            name = row.get("variant") or row["name"]
            row.setdefault("source", old.number(name))
            row.pop("same", None)
            if row["source"] == new.number(name):
                continue
            if row["source"] != old.number(name) or new.variant(name) is None:  # a file that was not committed; a rung that is gone
                verdicts[name] = False
            if name not in verdicts:
                verdicts[name] = same(day, tree, tuple(old.files(name)), tuple(new.files(name)), architecture(sm))
            if verdicts[name]:
                row["same"] = new.number(name)
    return {name for name, good in verdicts.items() if good}, {name for name, good in verdicts.items() if not good}


KNOWN = {}


def all_among(one, other):
    """Are all kernels of one of the two among those of the other? Rungs may have come together in a file, or parted."""
    if not one or not other:
        return False
    less, more = sorted((one, other), key=len)
    return not Counter(less) - Counter(more)


def same(day, tree, before, now, arch):
    """Do the files at `tree` and those of today have the same machine code?"""
    key = before, now, tuple((tree / name).read_bytes() for name in before), arch
    if key not in KNOWN:
        code = compiled(tree, before, arch)
        KNOWN[key] = all_among(code, compiled(ROOT, now, arch))
        print(f"{day} {', '.join(name.rpartition('/')[2] for name in now)}: {'the same' if KNOWN[key] else 'other'} machine code",
              flush=True)
    return KNOWN[key]


def measured(path):
    """Judges a file of results."""
    found = results.load(path)
    good, bad, commits = set(), set(), {}
    for table in found["tables"]:  # a table may be older than its file
        commits.setdefault(table.get("commit", found["commit"]).rstrip("+"), []).extend(
            row for row in table["rows"] if row["kind"] == "variant" and row.get("seconds"))
    for commit, rows in commits.items():
        one, other = judge(found["day"], rows, commit, found["device"]["sm"])
        good, bad = good | one, bad | other
    results.write(path, found)
    return good, bad


def counted(path):
    """Judges a file of counters; one that names no commit is of that which brought it in, or of an earlier one."""
    data = json.loads(path.read_text(encoding="utf-8"))
    commit = data.get("commit") or subprocess.run(["git", "-C", str(ROOT), "log", "-1", "--format=%H", "--", str(path)], check=True,
                                                  stdout=subprocess.PIPE, universal_newlines=True).stdout.strip()
    sm = next(results.load(other)["device"]["sm"] for other in sorted(path.parent.parent.glob("day[0-9][0-9].json")))
    verdict = judge(data["day"], data["rows"], commit, sm)
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return verdict


def profiled(path):
    """Judges a file of profiles, each of which names its commit."""
    data = json.loads(path.read_text(encoding="utf-8"))
    sm = next(results.load(other)["device"]["sm"] for other in sorted(path.parent.parent.glob("day[0-9][0-9].json")))
    good, bad, commits = set(), set(), {}
    for row in data["rows"]:
        commits.setdefault(row["commit"].rstrip("+"), []).append(row)
    for commit, rows in commits.items():
        one, other = judge(data["day"], rows, commit, sm)
        good, bad = good | one, bad | other
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return good, bad


def main(words):
    if any(not re.fullmatch(r"\d{1,2}", word) for word in words):
        print(__doc__, file=sys.stderr)
        return 2
    good = bad = 0
    for pattern, judged in (("docs/results/*/day[0-9][0-9].json", measured), ("docs/results/*/counters/day[0-9][0-9].json", counted),
                            ("docs/results/*/profiles/day[0-9][0-9].json", profiled)):
        for path in sorted(ROOT.glob(pattern)):
            if not words or int(path.stem[3:]) in map(int, words):
                one, other = judged(path)
                good, bad = good + len(one), bad + len(other)
                for name in sorted(other):
                    print(f"{path.relative_to(ROOT)}: {name} is of another kernel")
    print(f"{good} rewritten rungs are what was measured or counted, {bad} are not. Next: ./days report")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
