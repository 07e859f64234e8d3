#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/notebooks.py: the note is in the notebook, its pictures are cells, its links lead somewhere; what a fork changes; the learner's file
and the folder that outlives Colab's machine."""
import importlib.util
import json
import re
import sys
import types
import unittest
from unittest import mock

import support
from days_cli import catalog, exercises, paths


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, paths.ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


notebooks = loaded("notebooks")


class Cells(support.Case):
    def setUp(self):
        super().setUp()
        self.day = catalog.resolve("5", "run")
        self.cells = list(notebooks.cells(self.day, ""))
        self.texts = [text for _, text in self.cells]

    def at(self, part):
        found = [number for number, text in enumerate(self.texts) if part in text]
        self.assertTrue(found, part)
        return found[0]

    def test_the_note_is_whole(self):
        note = (self.day.folder / "README.md").read_text(encoding="utf-8")
        for heading in re.findall(r"^##+ (.*)$", note, re.MULTILINE):
            self.at(heading)
        for picture in re.findall(r"^!\[.*\]\((pictures/\S+)\)$", re.sub(r"<details>.*?</details>", "", note, flags=re.DOTALL), re.MULTILINE):
            self.at(f'picture("day05_matmul/{picture}")')
        self.assertNotIn("<!--", "".join(text for kind, text in self.cells if kind == "markdown"))

    def test_in_order(self):
        order = [self.at(part) for part in ("keep_in_drive()", "## The problem", "!./days run 5", "%%exercise my/day05.cu", "!./days check 5",
                                            "### 2 · lanes_across", "!./days next")]
        self.assertEqual(order, sorted(order))
        self.assertEqual(sum(text == "!./days run 5" for text in self.texts), 1)
        self.assertIn(exercises.skeleton(self.day).read_text(encoding="utf-8").strip(), self.texts[self.at("%%exercise")])

    def test_links_lead_to_what_is_there(self):
        for day in catalog.here():
            for kind, text in notebooks.cells(day, "") if day.number in (1, 5, 20, 31) else ():
                for link in re.findall(r"\]\((\.\./[^)#\s]+)", text) if kind == "markdown" else ():
                    self.assertTrue((notebooks.FOLDER / link).exists(), f"day {day.label}: {link}")

    def test_what_a_fork_changes(self):
        address = "https://github.com/someone/gpu-days"
        self.assertEqual(notebooks.badge(self.day, ""), "")
        cells = list(notebooks.cells(self.day, address))
        self.assertIn("colab.research.google.com/github/someone/gpu-days/blob/main/docs/notebooks/day05.ipynb", cells[0][1])
        self.assertIn(f'REPOSITORY = "{address}"', cells[1][1])
        self.assertTrue(any(f"]({address}/blob/main/day01_vector_add/README.md)" in text for _, text in cells))
        for url, made in (("git@github.com:a/b.git", "https://github.com/a/b"), ("https://github.com/a/b.git", "https://github.com/a/b"),
                          ("ssh://git@host.org/a/b", "https://host.org/a/b"), ("/a/folder", ""), ("", "")):
            self.assertEqual(notebooks.as_address(url), made, url)

    def test_no_formulas(self):
        self.assertEqual(notebooks._markdown(self.day, "costs $5 `$A`\n\n    $ ./days\n", ""), "costs \\$5 `$A`\n\n    $ ./days")

    def test_a_triton_day_asks_for_no_compiler(self):
        text = "".join(text for kind, text in notebooks.cells(catalog.resolve("20", "run"), "") if kind == "code")
        self.assertNotIn("doctor", text)
        self.assertIn("%%exercise my/day20.py", text)
        json.loads(notebooks.notebook(self.day, ""))


class Here(support.Case):
    def setUp(self):
        super().setUp()
        self.seen = []
        modules = {"IPython": types.SimpleNamespace(get_ipython=lambda: mock.Mock()), "IPython.core": types.ModuleType("core"),
                   "IPython.core.magic": types.SimpleNamespace(register_cell_magic=lambda function: function),
                   "IPython.display": types.SimpleNamespace(SVG=lambda filename: ("svg", filename), Image=lambda filename: ("image", filename),
                                                            display=self.seen.append)}
        with mock.patch.dict(sys.modules, modules):
            self.here = loaded("notebook_here")

    def test_cells_are_python(self):
        """Of every notebook: what follows a title, a line of the shell or a magic has to parse."""
        for path in sorted(notebooks.FOLDER.glob("*.ipynb")):
            for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
                text = "".join(cell["source"])
                if cell["cell_type"] == "code" and not text.startswith("%%"):
                    compile(re.sub(r"(?m)^( *)[!%].*", r"\1pass", text), path.name, "exec")

    def test_a_program_runs_as_a_copy(self):
        """A notebook's cell writes it to my/, which may be a folder of a Drive: whatever it imports of the course, it finds from where it is run."""
        for program in sorted(paths.ROOT.glob("day[0-9][0-9]_*/programs/*.py")):
            found = re.findall(r"parents\[\d\]", program.read_text(encoding="utf-8"))
            self.assertEqual(found, [], f"{program}: stands elsewhere as a copy")

    def test_a_picture_is_drawn_as_what_it_is(self):
        for path in ("day05_matmul/pictures/tiles.svg", "day33_animated_patterns/animations/gray_scott.gif"):
            self.here.picture(path)
        self.assertEqual([kind for kind, _ in self.seen], ["svg", "image"])

    def test_a_file_from_before_stays(self):
        path = self.folder / "day05.cu"
        self.assertFalse(self.here.keeps("start\n", path, "start\n"))
        path.write_text("start\n")
        self.assertFalse(self.here.keeps("start", path, "start\n"))
        path.write_text("mine\n")
        self.assertTrue(self.here.keeps("start", path, "start\n"))
        self.assertFalse(self.here.keeps("edited", path, "start\n"))

    def test_my_becomes_a_folder_of_the_drive(self):
        mine, drive = self.folder / "my", self.folder / "drive" / "my"
        drive.mkdir(parents=True)
        (drive / "day01.cu").write_text("from last time")
        mine.mkdir()
        for name in ("day01.cu", "day05.cu"):
            (mine / name).write_text("of this machine")
        self.here.into(mine, drive)
        self.assertTrue(mine.is_symlink())
        self.assertEqual(((mine / "day01.cu").read_text(), (drive / "day05.cu").read_text()), ("from last time", "of this machine"))


if __name__ == "__main__":
    unittest.main()
