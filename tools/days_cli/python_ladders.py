# SPDX-License-Identifier: MIT
"""What a Python day's ladder.py says of its rungs, read without importing it: ./days itself needs no NumPy."""
from __future__ import annotations

import ast
import functools
import io
import re
import tokenize

from days_cli.errors import WRONG, DaysError
from days_cli.rungs import Rung


@functools.lru_cache(maxsize=None)
def _ladders(path, _stamp):
    """[{name, rungs, by, orders, asks, exercise: {goal, starts, solution} or None}] of the Ladder(...) calls in a ladder.py."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    found = []
    for call in ast.walk(tree):
        if not (isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Ladder"):
            continue
        members = dict(zip(("name", "extents", "rungs"), call.args), **{word.arg: word.value for word in call.keywords if word.arg})
        name, rungs = ast.literal_eval(members["name"]), ast.literal_eval(members["rungs"])
        exercise = members.get("exercise")
        if exercise is not None:
            given = dict(zip(("goal", "starts", "solution", "gates"), exercise.args), **{w.arg: w.value for w in exercise.keywords})
            exercise = {key: ast.literal_eval(given[key]) for key in ("goal", "starts", "solution", "gates") if key in given}
        by, orders, asks = (ast.literal_eval(members[key]) if key in members else default
                            for key, default in (("by", "triton"), ("orders", False), ("asks", ())))
        found.append((call.lineno, {"name": name, "rungs": rungs, "by": by, "orders": orders, "asks": asks, "exercise": exercise}))
    return [ladder for _, ladder in sorted(found, key=lambda one: one[0])]


def ladders(day):
    """[] without a ladder.py. Members that are no literals, or a file that Python cannot read, are a DaysError with its place."""
    path = day.folder / "ladder.py"
    try:
        return _ladders(path, path.stat().st_mtime_ns)
    except OSError:
        return []
    except SyntaxError as error:
        raise DaysError(f"{day.target}/ladder.py:{error.lineno}: {error.msg}", code=WRONG) from error
    except (ValueError, KeyError) as error:
        raise DaysError(f"{day.target}/ladder.py: name, rungs, by, orders, asks and exercise of a Ladder have to stand there as literals", code=WRONG) from error


def of_variant(day, name):
    """The ladder that a rung is of; the exercise is of the one that has one."""
    return next(ladder for ladder in ladders(day) if name in ladder["rungs"] or name == "exercise" and ladder["exercise"])


def files(day):
    """{rung: its file}, ladder by ladder."""
    found = {}
    for ladder in ladders(day):
        for name in ladder["rungs"]:
            there = sorted(day.folder.glob(f"[0-9][0-9]_{name}.py"))
            if not there:
                raise DaysError(f"{day.target} has no file NN_{name}.py, which ladder.py names", code=WRONG)
            found[name] = there[0]
    return found


def header(path):
    """A file's docstring."""
    try:
        return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    except SyntaxError:
        return ""


def exercise(day):
    """(goal, starting rung, solution) of the ladder that has an exercise; None where none has."""
    found = next((ladder["exercise"] for ladder in ladders(day) if ladder["exercise"]), None)
    if not found:
        return None
    return found["goal"], found["starts"], found["solution"]


def rungs(day):
    """{name: Rung}, ladder by ladder. A rung starts from the one that "Changed since NAME:" in its file's docstring names, else from the row
    before it."""
    found, in_files = {}, files(day)
    for ladder in ladders(day):
        earlier = []
        for name in ladder["rungs"]:
            about = " ".join(header(in_files[name]).split())
            since = re.search(r"\b[Ss]ince (\w+)", about)
            named = next((rung for rung in earlier if since and rung.name == since[1]), None)
            found[name] = Rung(day, ladder["name"], name, "launch", (), in_files[name], named or (earlier[-1] if earlier else None))
            earlier.append(found[name])
    return found


def gates_of(day):
    """{a metric's key: its bound} of the exercise."""
    return next(ladder["exercise"] for ladder in ladders(day) if ladder["exercise"]).get("gates", {})


def start_text(rung):
    """The rung before as a learner's file of this rung: its code under a docstring of its own."""
    text = rung.before.file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    about, body = header(rung.before.file), text
    if about:
        lines = text.splitlines(keepends=True)
        body = "".join(lines[:tree.body[0].lineno - 1] + lines[tree.body[0].end_lineno:])
    licence, _, code = body.partition("\n") if body.startswith("# SPDX") else ("", "", body)
    head = f'"""Yours: {rung.name} of day {rung.day.number}. It begins as {rung.before.name}, which is right; the note says what is missing.\n\n' \
           f"    ./days check {rung.words}     what is asked, and how far you are\n" \
           f"    ./days hint {rung.words}      what the note says of it\n\n" \
           f"What {rung.before.name} does: {about}\n" + '"""\n'
    return (licence + "\n" if licence else "") + head + code.lstrip("\n")


def plain(text):
    """A text of Python without comments, docstrings and empty lines, the same under each version of Python; as it is where it cannot be
    read."""
    try:
        tree = ast.parse(text)
        comments = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.COMMENT]
    except (SyntaxError, tokenize.TokenError):
        return text
    lines = text.splitlines()
    for token in comments:
        row, column = token.start
        lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            for row in range(body[0].lineno, body[0].end_lineno + 1):
                lines[row - 1] = ""
    return "\n".join(line.rstrip() for line in lines if line.strip())


def own_text(_, own):
    """A learner's file without comments."""
    return plain(own)


def measured(_):
    """Whether the day has something to measure."""
    return True
