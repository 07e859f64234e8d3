#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a clone with more days than there are, to see what takes long when the course is whole: each new day is a copy of one
that is here, under a number, a namespace and names of its own, so that nothing of it is compiled or cached twice.

    tests/many_days.py FOLDER [DAYS]     FOLDER must not exist; DAYS is 86 unless given

It clones what is committed, copies days in turn until there are DAYS, writes the tables of notes and README anew and commits.
Then, in FOLDER, with an empty cache and nothing else on the machine:

    export CCACHE_DIR=$PWD/build/ccache DAYS_CPU_SECONDS=ON
    time ./days test
    .ci/cpu_table.py
    time .ci/run
"""
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def git(folder, *words):
    return subprocess.run(["git", "-C", str(folder), *words], check=True, stdout=subprocess.PIPE,
                          universal_newlines=True).stdout


def renamed(text, old, new, name, new_name):
    """What a file of day `old` says, as the day `new` says it."""
    text = text.replace(f"day{old}_{name}", f"day{new}_{new_name}").replace(f"day{old}", f"day{new}")
    text = re.sub(rf"\bDay{old}(?=[A-Z])", f"Day{new}", text)                                 # test suites
    text = re.sub(rf"\b([Dd]ay ){int(old):02}\b", rf"\g<1>{new}", text)
    text = re.sub(rf"(\bdays [a-z]+ ){int(old)}\b", rf"\g<1>{int(new)}", text)                # ./days run 14
    text = re.sub(rf"\bexplain/{old}_", f"explain/{new}_", text)
    return re.sub(r"^title: (.*)$", rf"title: \1 ({new})", text, count=1, flags=re.MULTILINE) if text.startswith("---") else text


def copy_day(clone, files, folder, new):
    """A copy of the day in `folder` as day `new`, from the tracked files whose names say that they are that day's."""
    old, name = folder[3:5], folder[6:]
    new_name = f"{name}_{new}"
    for path in files:
        if not re.search(rf"(^|/)day{old}(_|\.)", path):
            continue
        target = clone / path.replace(folder, f"day{new}_{new_name}").replace(f"day{old}", f"day{new}")
        target.parent.mkdir(parents=True, exist_ok=True)
        data = (clone / path).read_bytes()
        try:
            target.write_text(renamed(data.decode(), old, new, name, new_name), encoding="utf-8")
        except UnicodeDecodeError:  # a picture
            target.write_bytes(data)
        shutil.copymode(clone / path, target)
    for path in clone.glob("docs/results/*/counters/reasons.json"):
        reasons = json.loads(path.read_text(encoding="utf-8"))
        reasons.update({pattern.replace(f"day{old}", f"day{new}"): why for pattern, why in reasons.items() if f"day{old}" in pattern})
        path.write_text(json.dumps(reasons, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    path = clone / ".ci" / "cpu_budget.json"  # a copy takes what its day takes
    budget = json.loads(path.read_text(encoding="utf-8"))
    if old in budget["exceptions"]:
        budget["exceptions"][new] = budget["exceptions"][old]
        path.write_text(json.dumps(budget, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main(words):
    if not 1 <= len(words) <= 2 or words[0].startswith("-") or not (words[1:] or ["86"])[0].isdigit():
        print(__doc__, file=sys.stderr)
        return 2
    clone, wanted = Path(words[0]).resolve(), int((words[1:] or ["86"])[0])
    if clone.exists():
        print(f"error: {clone} is there already", file=sys.stderr)
        return 2
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    files = git(clone, "ls-files").splitlines()
    folders = sorted({path.split("/")[0] for path in files if re.match(r"day\d\d_", path)})
    free = [f"{number:02}" for number in range(1, 100) if f"{number:02}" not in {folder[3:5] for folder in folders}]
    for turn, new in enumerate(free[:max(0, wanted - len(folders))]):
        copy_day(clone, files, folders[turn % len(folders)], new)
    # A copy of a note that is as long as it may be is longer by its number, and report says so once it has written all.
    subprocess.run([str(clone / "days"), "report"], cwd=clone, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    git(clone, "add", "-A")
    git(clone, "-c", "user.name=many", "-c", "user.email=many@days", "commit", "--quiet", "-m", f"{wanted} days")
    print(f"{len(list(clone.glob('day[0-9][0-9]_*')))} days in {clone}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
