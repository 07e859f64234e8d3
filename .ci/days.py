#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which days a stage of .ci/run looks at, where it does not look at all of them.

    .ci/days.py 12          at most twelve days, as their numbers in one line; why these, and what is left out, on stderr
    .ci/days.py --all       every day
    .ci/days.py 6 --python  at most six days, Python days among them: the others have nothing to compile
    .ci/days.py 6 --pick    six lines of standard input instead of days, by the same rule of turns

A day comes first where a commit of the last 24 hours before HEAD touched it: its folder or its notebook. HEAD's
hash puts these in an order, and all other days after them, so that each commit's turn is another. At least two others are
taken beside the days that were touched, and five where the last day's commits touched what all days share (common/, model/, gpt/, serve/, simt/,
cmake/, tools/, tests/testing.cpp): a stage that would look at all days for that would take hours, and the nightly run does.

With DAYS_CI_BASE=COMMIT, what differs from where HEAD left COMMIT counts as touched, too (a pull request's branch may be older
than a day). In a shallow clone the oldest commit's changes are not known, and it is passed over; this says so."""
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOURS = 24
OTHERS, OTHERS_IF_SHARED = 2, 5
OF_A_DAY = re.compile(r"(?:day|docs/notebooks/day)(\d\d)(?=[_.])")
SHARED = re.compile(r"(?:common|model|gpt|serve|simt|cmake|tools|bench)/|tests/testing\.cpp$|CMakeLists\.txt$|days$")


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout


def touched_paths(note):
    """The paths that the commits of the last 24 hours before HEAD touched."""
    head = git("rev-parse", "HEAD").strip()
    since = int(git("log", "-1", "--format=%ct", head)) - HOURS * 3600
    boundary = set()
    if git("rev-parse", "--is-shallow-repository").strip() == "true":
        folder = Path(git("rev-parse", "--git-dir").strip())
        boundary = set((ROOT / folder / "shallow").read_text().split())
    commits = [line.split() for line in git("log", f"--since=@{since}", "--format=%H %ct", head).splitlines()]
    commits = [commit for commit, when in commits if int(when) >= since]
    unknown = [commit for commit in commits if commit in boundary]
    if unknown:
        note(f"this clone is shallow: what {unknown[0][:7]} and older commits touched is not known")
    known = [commit for commit in commits if commit not in boundary]
    paths = set()
    if known:
        # Renames are two paths; looking for them would need the files' contents, which a partial clone lacks.
        paths.update(git("show", "--no-renames", "--format=", "--name-only", "-m", "--first-parent", *known).splitlines())
    base = os.environ.get("DAYS_CI_BASE")
    if base:
        paths.update(git("diff", "--no-renames", "--name-only", f"{base}...{head}").splitlines())
    return head, paths


def in_turn(head, names):
    """The names in an order that each commit makes anew."""
    return sorted(names, key=lambda name: hashlib.sha256(f"{head} {name}".encode()).digest())


def choose(days, most, head, paths):
    """(days that were touched, others) of at most `most`, each in turn, and how many others there should be."""
    numbers = {found[1] for found in map(OF_A_DAY.match, paths) if found}
    touched = in_turn(head, [day for day in days if day in numbers])
    others = in_turn(head, [day for day in days if day not in numbers])
    wanted = OTHERS_IF_SHARED if any(map(SHARED.match, paths)) else OTHERS
    kept = touched[:max(most - min(wanted, len(others)), (most + 1) // 2)]
    return kept, others[:min(wanted, most - len(kept))], touched[len(kept):]


def main(words):
    def note(text):
        print(text, file=sys.stderr)

    python = words[1:] == ["--python"]
    words = words[:1] if python else words
    if words == ["--all"] or (os.environ.get("DAYS_CI_ALL") == "1" and words[1:] != ["--pick"]):
        print(*here(python))
        return 0
    if not words or not words[0].isdigit() or words[0] == "0" or words[1:] not in ([], ["--pick"]):
        note(__doc__)
        return 2
    most = int(words[0])
    head, paths = touched_paths(note)
    if words[1:]:
        lines = sys.stdin.read().splitlines()
        wanted = len(lines) if os.environ.get("DAYS_CI_ALL") == "1" else most
        chosen = set(in_turn(head, lines)[:wanted])
        print("\n".join(line for line in lines if line in chosen))
        return 0
    touched, others, left = choose(here(python), most, head, paths)
    note(f"touched in the last {HOURS} hours: {' '.join(sorted(touched)) or 'none'}; "
         f"others, by {head[:7]}: {' '.join(sorted(others)) or 'none'}")
    if left:
        note(f"left out, as {most} are the most: {' '.join(sorted(left))}, touched too (.ci/run all looks at them)")
    print(*sorted(touched + others))
    return 0


def here(python=False):
    """The days that have something to build, and with `python` Python days as well; of distributed days the stages know nothing yet."""
    without = "distributed" if python else "python|distributed"
    notes = [folder / "README.md" for folder in ROOT.glob("day[0-9][0-9]_*") if (folder / "README.md").is_file()]
    return sorted(note.parent.name[3:5] for note in notes
                  if not re.search(rf"^kind: *({without}) *$", note.read_text(encoding="utf-8"), re.MULTILINE))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
