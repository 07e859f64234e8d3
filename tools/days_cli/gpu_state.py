# SPDX-License-Identifier: MIT
"""What ./days gpu knows from one call to the next, and the one archive that takes it and all results from a machine to another."""
from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tarfile
import time

from days_cli import outputs, paths, results, stale
from days_cli.errors import WRONG, DaysError

SCHEMA = 1
_MOST = 15 << 20  # bytes of an archive: it must pass where 16 MiB do
_LARGE = 64 << 20  # of a file in one that is taken
_LOG = 1 << 16  # bytes that are kept of a log's end
_RESULT = re.compile(r"results/([a-z0-9-]+)/((?:[a-z]+/)?[\w.+-]+\.(?:json|txt))")
_DAY = re.compile(r"day\d\d(-[\w.+-]+)?\.json")


def folder():
    return paths.BUILD / "gpu"


def archive_file():
    return folder() / "results.tar.gz"


def _docs():
    return paths.ROOT / "docs" / "results"


def _files():
    """{results/GPU/...: its path} of all results that are here."""
    if not _docs().is_dir():
        return {}
    found = {"results/" + path.relative_to(_docs()).as_posix(): path for path in sorted(_docs().rglob("*")) if path.is_file()}
    return {name: path for name, path in found.items() if _RESULT.fullmatch(name)}


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class State:
    """tests: {name: {source, result, seconds, commit}}; sanitizers: {"14 memcheck": the same}; calls: what each call took; changed: names
    of results that calls have written."""

    def __init__(self):
        self.data = {"schema": SCHEMA, "gpu": "", "tests": {}, "sanitizers": {}, "calls": [], "changed": []}
        path = folder() / "state.json"
        if path.exists():
            try:
                found = json.loads(path.read_text(encoding="utf-8"))
                if found.get("schema") == SCHEMA:
                    self.data.update(found)
            except ValueError:
                pass  # what is no state is none: everything is done again
        self._before = {name: _digest(path) for name, path in _files().items()}

    def save(self):
        folder().mkdir(parents=True, exist_ok=True)
        outputs.put(folder() / "state.json", json.dumps(self.data, indent=1) + "\n")

    def begin(self, gpu, commit, words):
        if self.data["gpu"] not in ("", gpu):  # tests that passed on another card say nothing of this one
            self.data.update(tests={}, sanitizers={})
        self.data["gpu"] = gpu
        self.data["calls"].append({"commit": commit, "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "command": words, "steps": []})
        self.save()

    @property
    def call(self):
        return self.data["calls"][-1]

    def done(self, what, name, source):
        """What is known of a test or a sanitizer's run of these sources, or None."""
        found = self.data[what].get(name)
        return found if found and found["source"] == source else None

    def keep(self, what, name, source, result, seconds, **more):
        self.data[what][name] = {"source": source, "result": result, "seconds": round(seconds, 1), "commit": self.call["commit"], **more}

    def pack(self):
        """Writes state and archive: what the calls have written of results, whole or not at all."""
        here = _files()
        changed = {name for name, path in here.items() if self._before.get(name) != _digest(path)}
        self.data["changed"] = sorted({*self.data["changed"], *changed} & set(here))
        self.save()
        parts = [("state.json", json.dumps(self.data, indent=1).encode() + b"\n")]
        parts += [(name, here[name].read_bytes()) for name in self.data["changed"]]
        logs = sorted((folder() / "logs").glob("*.log"), key=lambda path: path.stat().st_mtime) if (folder() / "logs").is_dir() else []
        logs = [path for path in (folder() / "build.log", paths.BUILD / "bench" / "python.log") if path.exists()] + logs
        parts += [(f"logs/{path.name}", path.read_bytes()[-_LOG:]) for path in logs]
        data = _packed(parts)
        while len(data) > _MOST and parts[-1][0].startswith("logs/"):
            parts.pop()
            data = _packed(parts)
        outputs.put(archive_file(), data)


def _packed(parts):
    raw = io.BytesIO()
    with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as squeezed, tarfile.open(fileobj=squeezed, mode="w") as archive:
        for name, data in parts:
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.mtime = len(data), 0o644, int(time.time())
            archive.addfile(member, io.BytesIO(data))
    return raw.getvalue()


# ---- on another machine ----

def opened(path):
    """{name: bytes} of an archive; DaysError where it is none, or not whole."""
    try:
        found = {}
        with tarfile.open(path, mode="r:gz") as archive:
            for member in archive:
                if not member.isfile() or member.size > _LARGE:
                    raise DaysError(f"{results.shown(path)} holds {member.name[:60]}, which is no result", "./days gpu --help")
                found[member.name] = archive.extractfile(member).read()
    except (tarfile.TarError, EOFError, ValueError, gzip.BadGzipFile) as error:
        raise DaysError(f"{results.shown(path)} is no archive of ./days gpu, or not whole: {error}", "./days gpu --help") from error
    except OSError as error:
        raise DaysError(f"{results.shown(path)}: {error.strerror or error}", "./days gpu --help") from error
    try:
        state = json.loads(found["state.json"])
    except (KeyError, ValueError) as error:
        raise DaysError(f"{results.shown(path)} is no archive of ./days gpu: it holds no state", "./days gpu --help") from error
    if state.get("schema") != SCHEMA:
        raise DaysError(f"{results.shown(path)} is of another ./days gpu", "git log -1 --format=%h", WRONG)
    for name in found:
        if name != "state.json" and not name.startswith("logs/") and not _RESULT.fullmatch(name):
            raise DaysError(f"{results.shown(path)} holds {name[:60]}, which is no result", "./days gpu --help")
    return found


def take(path):
    """Puts an archive's results where they belong; (their state, [what was done, a line each]). A table or a row that is here and was
    measured later stays, and so does what is here of the same measurement: tools/same_code.py may have renewed its numbers."""
    found, said = opened(path), []
    for name, data in sorted(found.items()):
        match = _RESULT.fullmatch(name)
        if not match:
            continue
        target = _docs() / match[1] / match[2]
        if _DAY.fullmatch(match[2]):
            said.append(_take_day(json.loads(data)))
            continue
        if target.suffix == ".json" and target.exists():
            old = json.loads(target.read_text(encoding="utf-8"))
            new = _with_rows(old, json.loads(data))
            if new == old:
                continue
            data = (json.dumps(new, indent=1) + "\n").encode()
        if not target.exists() or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            outputs.put(target, data)
            said.append(f"{results.shown(target)} written")
    return json.loads(found["state.json"]), [line for line in said if line]


def _take_day(new):
    """"" where nothing of it is new here. Rows of rungs that the day has no longer are left where they are."""
    number = int(new["day"][3:5])
    new, gone = _of_rungs_here(new)
    target, _ = results.place(paths.ROOT / "docs" / "results" / results.slug(new["device"]["name"]) / f"day{number:02d}.json", new)
    if not target.exists():
        results.write(target, new)
        return f"{results.shown(target)}: {len(new['tables'])} tables, all new{gone}"
    old = results.load(target)
    dates = {results.key(table): table.get("date", old["date"]) for table in old["tables"]}
    whole = {results.key(table): table for table in old["tables"]}
    late = [table for table in new["tables"] if table.get("date", new["date"]) >= dates.get(results.key(table), "")]
    tables = [table for table in late if not _same(whole.get(results.key(table)), table)]
    if not tables:
        return ""
    # The file's own commit and date are those of the newer one; every other table says its own.
    newer, older = (new, old) if new["date"] >= old["date"] else (old, new)
    merged = stale.merge({**older, "tables": old["tables"] if older is old else tables}, {**newer, "tables": tables if newer is new else [
        table for table in old["tables"] if results.key(table) not in {results.key(one) for one in tables}]})
    results.write(target, merged)
    fresh = sum(results.key(table) not in dates for table in tables)
    kept = len(new["tables"]) - len(late)
    return (f"{results.shown(target)}: {len(tables)} tables, {fresh} of them new" + (f"; {kept} that were measured later stay" if kept else "") + gone)


def _of_rungs_here(new):
    """(a day's results without the rungs that the day's ladder.json does not name, what is to be said of these)."""
    file = paths.ROOT / new["day"] / "ladder.json"
    if not file.is_file():
        return new, ""
    here = {(ladder["name"], row["name"]) for ladder in json.loads(file.read_text(encoding="utf-8"))["ladders"] for row in ladder["rows"]}
    gone = {row["name"] for table in new["tables"] for row in table["rows"] if row["kind"] == "variant" and (table["ladder"], row["name"]) not in here}
    tables = [{**table, "rows": [row for row in table["rows"] if row["kind"] != "variant" or row["name"] not in gone]} for table in new["tables"]]
    tables = [table for table in tables if any(row["kind"] == "variant" for row in table["rows"])]
    return {**new, "tables": tables}, f"; no rungs of the day any more: {', '.join(sorted(gone))}" if gone else ""


def _same(old, new):
    """Whether a table is the one that is here: the numbers of their kernels' texts, and the CPU's rows, may have been renewed."""
    def measured(table):
        return [{name: value for name, value in row.items() if name not in ("source", "same")} for row in table["rows"]
                if row["kind"] != "cpu" or any(row["kind"] == "cpu" for row in new["rows"])]
    return old is not None and measured(old) == measured(new)


def _with_rows(old, new):
    """A file of counters with the new one's rows in the place of its own, where those are not later."""
    if not all(isinstance(one, dict) and isinstance(one.get("rows"), list) for one in (old, new)):
        return new

    def key(row):
        return row.get("ladder"), row.get("variant"), row.get("file"), row.get("type"), row.get("size")
    rows = {key(row): row for row in old["rows"]}
    rows.update({key(row): row for row in new["rows"] if row.get("date", "") >= rows.get(key(row), {}).get("date", "")})
    return {**new, "rows": list(rows.values())}
