#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the pictures that day*/pictures/*.py and docs/pictures/*.py describe (tools/drawing.py), from the kernels' own constants.

    tools/pictures.py [DAY ...]            draws them
    tools/pictures.py --check [DAY ...]    draws nothing; exit 1 where a picture is not what its script makes

A script registers each of its pictures with drawing.picture, and may read what lies beside it.
"""
import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import drawing  # noqa: E402  pylint: disable=wrong-import-position


def scripts(days):
    """The picture scripts of the days of these numbers, or of all days and the docs."""
    found = sorted(ROOT.glob("day[0-9][0-9]_*/pictures/*.py")) + sorted(ROOT.glob("docs/pictures/*.py"))
    return [path for path in found if not days or any(path.parts[-3].startswith(f"day{int(day):02}_") for day in days)]


def pictures(path):
    """{file name: SVG text} of one script."""
    drawing.PICTURES.clear()
    spec = importlib.util.spec_from_file_location(f"{path.parts[-3]}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = {name: draw() for name, draw in drawing.PICTURES.items()}
    return {name: card if isinstance(card, str) else card.svg() for name, card in made.items()}


def main(arguments):
    check = "--check" in arguments
    days = [word for word in arguments if word != "--check"]
    wrong = [word for word in days if not word.isdecimal()]
    if wrong:
        print(f"error: {wrong[0]} is no day's number: tools/pictures.py [--check] [DAY ...]", file=sys.stderr)
        return 2
    found, bad, count = scripts(days), 0, 0
    for day in days:
        if not scripts([day]):
            print(f"error: day {day} has no pictures/*.py", file=sys.stderr)
            return 2
    for path in found:
        where = path.relative_to(ROOT)
        try:
            made = pictures(path)
        except (ValueError, OSError) as error:
            print(f"FAIL {where}: {error}")
            bad += 1
            continue
        if not made:
            print(f"FAIL {where} registers no picture: @drawing.picture(\"name.svg\")")
            bad += 1
        for name, text in made.items():
            count += 1
            target = path.parent / name
            fresh = target.exists() and target.read_text(encoding="utf-8") == text
            if check and not fresh:
                print(f"FAIL {target.relative_to(ROOT)} is not what {where} draws: tools/pictures.py {path.parts[-3][3:5]}")
                bad += 1
            elif not fresh:
                target.write_text(text, encoding="utf-8")
                print(f"drew {target.relative_to(ROOT)}")
    print(f"{count} pictures of {len(found)} scripts, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
