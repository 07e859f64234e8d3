# SPDX-License-Identifier: MIT
"""tools/drawing.py refuses what cannot be read, and tools/pictures.py notices a picture that is not its script's."""
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import drawing  # noqa: E402  pylint: disable=wrong-import-position
from drawing import SHARED, Card  # noqa: E402  pylint: disable=wrong-import-position


class Cards(unittest.TestCase):
    def refused(self, card, words):
        with self.assertRaisesRegex(ValueError, words):
            card.svg()

    def test_what_every_word_draws_is_readable_and_well_formed(self):
        cards = [Card("tree", 300), Card("butterfly", 330), Card("chain", 190), Card("banks", 320), Card("matrices", 300),
                 Card("time", 200), Card("levels", 260), Card("cells", 250)]
        cards[0].tree(80, [3, 1, 4, 1, 5, 9, 2, 6], lambda a, b: a + b)
        cards[1].butterfly(76, [3, 1, 4, 1, 5, 9, 2, 6], lambda a, b: a + b)
        cards[2].chain(100, [("block 0", "prefix", SHARED), ("block 1", "looks", SHARED)], [(1, 0)])
        cards[3].banks(60, 100, 4, 4, lambda row, bank: row * 4 + (bank ^ row), {0: 0, 4: 1, 8: 2, 12: 3})
        a = cards[4].matrix(60, 90, 4, 6, 24, "A", col_names=range(6))
        cards[4].tile(a.tile(0, 0, 2, 2), "tile")
        cards[4].path([a.tile(2, 0, 2, 2), a.tile(2, 2, 2, 2)], steps=True)
        cards[4].fragment(300, 90, 8, 4, lambda row, col: row * 4 + col, 20, lanes=(0, 1))
        cards[5].time(66, [("block 0", [("load", 0, 3, SHARED)]), ("block 1", [("load", 3, 6, SHARED)])])
        cards[6].levels(60, [("registers", "256 KiB", "1", SHARED), ("DRAM", "141 GB", "600", SHARED)])
        x = cards[7].cells(90, "x", [1, 2, 3, 4], fill=SHARED)
        cards[7].window(x, 0, 2, "a window", below=False)
        cards[7].threads(x, {i: i for i in range(4)}, 160)
        for card in cards:
            with self.subTest(card.title):
                self.assertEqual(xml.fromstring(card.svg())[0].text, card.title)

    def test_tree_and_butterfly_compute_what_they_show(self):
        card = Card("sums", 400)
        card.butterfly(76, [1, 2, 3, 4], lambda a, b: a + b)
        self.assertEqual([words for words, *_ in card.words].count("10"), 4)

    def test_words_that_leave_the_sheet(self):
        card = Card("title", 100)
        card.text(470, 60, "far too long", at="start")
        self.refused(card, "leaves the sheet")

    def test_a_title_that_is_cut(self):
        self.refused(Card("A title of so many words that it cannot stand on one line", 100), "leaves the sheet")

    def test_a_title_that_only_a_wide_font_cuts(self):
        """405 units in Helvetica's bold, 496 in that of DejaVu Sans, which many systems without Helvetica show."""
        self.refused(Card("A dependent launch starts early, then waits", 100), "leaves the sheet: -8 to 488 of 480")
        Card("A dependent launch starts early", 100).svg()

    def test_a_character_of_no_known_width_counts_as_a_wide_one(self):
        self.assertEqual(drawing.width_of("\u2192\u2026", 10), 20)

    def test_words_on_words(self):
        card = Card("title", 100)
        card.text(240, 60, "one label")
        card.text(250, 62, "another")
        self.refused(card, "lies on")

    def test_a_line_through_words_unless_it_says_so(self):
        card = Card("title", 100)
        card.text(240, 60, "label")
        card.line(100, 55, 400, 56, through=True)
        card.svg()
        card.line(100, 55, 400, 56)
        self.refused(card, "goes through")

    def test_constants_of_a_kernel(self):
        with tempfile.TemporaryDirectory(dir=ROOT) as folder:
            file = Path(folder) / "k.cu"
            file.write_text("constexpr int kTile = 32, kRows = kTile / 4;\n  constexpr unsigned kPad = kTile + 1;\n")
            where = str(file.relative_to(ROOT))
            self.assertEqual([drawing.constant(where, name) for name in ("kTile", "kRows", "kPad")], [32, 8, 33])
            with self.assertRaisesRegex(ValueError, "sets no constant kGone"):
                drawing.constant(where, "kGone")


class Pictures(unittest.TestCase):
    """The tool on a clone of one day."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        (self.root / "tools").mkdir()
        for name in ("drawing.py", "pictures.py"):
            shutil.copy(ROOT / "tools" / name, self.root / "tools")
        self.pictures = self.root / "day01_x" / "pictures"
        self.pictures.mkdir(parents=True)
        (self.pictures / "ideas.py").write_text(
            'from drawing import Card, picture\n\n\n@picture("a.svg")\ndef a():\n    return Card("one", 60)\n')

    def run_it(self, *arguments):
        done = subprocess.run([sys.executable, "-B", "tools/pictures.py", *arguments], cwd=self.root, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def test_draws_then_is_content_then_notices(self):
        self.assertEqual(self.run_it("--check")[0], 1)
        self.assertEqual(self.run_it()[0], 0)
        self.assertEqual(self.run_it("--check", "1"), (0, "1 pictures of 1 scripts, 0 wrong\n"))
        (self.pictures / "a.svg").write_text("<svg/>")
        code, output = self.run_it("--check")
        self.assertEqual(code, 1)
        self.assertIn("day01_x/pictures/a.svg is not what day01_x/pictures/ideas.py draws", output)
        self.assertEqual((self.pictures / "a.svg").read_text(), "<svg/>")

    def test_a_picture_that_cannot_be_read_names_its_script(self):
        (self.pictures / "ideas.py").write_text(
            'from drawing import Card, picture\n\n\n@picture("a.svg")\ndef a():\n    return Card("x" * 90, 60)\n')
        code, output = self.run_it()
        self.assertEqual(code, 1)
        self.assertIn("FAIL day01_x/pictures/ideas.py", output)
        self.assertIn("leaves the sheet", output)

    def test_bad_arguments(self):
        self.assertEqual(self.run_it("blur")[0], 2)
        self.assertEqual(self.run_it("44")[0], 2)


if __name__ == "__main__":
    unittest.main()
