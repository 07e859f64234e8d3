# SPDX-License-Identifier: MIT
"""What tools/check_listings.py makes of a note's listings, and what it finds in them."""
import io
import sys
import unittest
from contextlib import redirect_stderr, redirect_stdout

from support import ROOT, Case

sys.path.insert(0, str(ROOT / "tools"))
import check_listings  # noqa: E402
import listing_program  # noqa: E402

KERNEL = """__global__ void go(const float* x, float* y, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) y[i] = twice(x[i]);
}
"""


def note(*listings, said="It says `kBlock` and `twice`.", given="", heading="### 1 · go\n"):
    """A section with such listings."""
    return heading + "".join(f"\n{said}\n\n{given}```cpp\n{code}```\n" for code in listings)


class Reading(unittest.TestCase):
    def found(self, text):
        return [(one.line, one.said, one.given) for one in check_listings.listings(text)]

    def test_what_is_compiled(self):
        self.assertEqual(self.found("# Top\n\nSaid.\n\n```cpp\nint a;\n```\n"), [(6, "Said.", "")])
        for other in ("```text\nint a;\n```", "```cpp\nint a = ___;\n```", "    int a;", "<!-- not compiled: no such header -->\n```cpp\nint a;\n```",
                      "<details><summary>Hint 3: code</summary>\n\n```cpp\nint a;\n```\n</details>"):
            self.assertEqual(self.found(f"Said.\n\n{other}\n"), [], other)

    def test_a_fold_and_a_picture_are_no_paragraph(self):
        between = "![A picture](pictures/a.svg)\n\n<details><summary>Show the listing</summary>\n\n"
        self.assertEqual(self.found(f"First.\n\nSaid\nhere.\n\n{between}```cpp\nint a;\n```\n"), [(11, "Said\nhere.", "")])

    def test_the_given_of_a_listing_is_its_own(self):
        text = "<!-- given: int a -->\n```cpp\na;\n```\n\nMore.\n\n<!-- given: int b;\n     int c() -->\n```cpp\nb + c();\n```\n"
        self.assertEqual([given for _, _, given in self.found(text)], ["int a", "int b;\n     int c()"])

    def test_sections(self):
        text = note("int a;\n", "int b;\n") + "#### Deeper\n" + note("int c;\n", heading="") + note("int d;\n", heading="## Next\n")
        self.assertEqual([len(one.earlier) for one in check_listings.listings(text)], [0, 1, 2, 0])


class Pieces(unittest.TestCase):
    def kinds(self, code):
        return [kind for _, _, kind in listing_program.chunks(code)]

    def test_kinds(self):
        for code, kinds in ((KERNEL, ["outside"]), ("#include <cmath>\nint f(int a) { return a; }\n", ["include", "outside"]),
                            ("constexpr int kA = 1;\nconst int b = kA;\n", ["either", "inside"]),
                            ("struct A { int x; };\nA a{};\nif (a.x) { a = {}; } else { f(); }\n", ["either", "inside", "inside"]),
                            ("#pragma unroll\nfor (int i = 0; i < 4; ++i) { s += i; }\n", ["either", "inside"]),
                            ("const auto f = [&](int i) { return i; };\nf(Vector{} + 1);\n", ["inside", "inside"]),
                            ('extern "C" int f(int a);\nextern __shared__ float tile[];\n', ["outside", "inside"]),
                            ("// for (;;) {\nsync();  // }\n", ["inside"]), ("go<<<1, 32>>>(x);\n", ["inside"])):
            self.assertEqual(self.kinds(code), kinds, code)

    def test_givens(self):
        text = ("const float* x, float (&t)[4][8], class T; constexpr int kA = 1, kB[2] = {3, 4}; using day12::Moments; using V = days::Vec<T, 4>; "
                "template <class U> void f(U a, int b); struct { int s[2]; } shared; struct P { int q; }; namespace wmma = nvcuda::wmma; extern T* data")
        parameters, declarations, names = listing_program.givens(text)
        self.assertEqual(list(parameters), ["x", "t", "T"])
        self.assertEqual(len(declarations), 8)
        self.assertEqual(names, ["kA", "kB", "Moments", "V", "f", "shared", "P", "wmma", "data"])
        with self.assertRaisesRegex(ValueError, "declares no name"):
            listing_program.givens("const float*")


class Readers(unittest.TestCase):
    """What a comment gives must be told to readers, too."""

    def found(self, text, functions=()):
        one = check_listings.listings(text)[-1]
        return [what.partition(":")[0] for _, what in [*check_listings.unknown(one), *check_listings.borrowed(one, set(functions))]]

    def test_a_name_that_the_text_says(self):
        given = "<!-- given: float* y, int n; constexpr int kTop = 1 -->\n"
        self.assertEqual(self.found(note("if (n) *y = kTop;\n", said="With `n`, y and kTop:", given=given)), [])
        self.assertEqual(self.found(note("if (n) *y = kTop;  // kTop: 1; n and y: two numbers\n", said="Look:", given=given)), [])
        self.assertEqual(self.found(note("if (n) *y = kTop;\n", said="With many and y:", given=given)),
                         [f"{name} is given, and no reader knows it" for name in ("n", "kTop")])

    def test_a_name_of_an_earlier_listing(self):
        earlier = note("void f(int n, int* y);\n")
        self.assertEqual(self.found(earlier + note("n + 1;\n", heading="", said="Then:", given="<!-- given: int n -->\n")), [])
        self.assertEqual(len(self.found(earlier + note("n + 1;\n", said="Then:", given="<!-- given: int n -->\n"))), 1)

    def test_a_is_an_english_word(self):
        given = "<!-- given: int a -->\n"
        for said, count in (("Add a number:", 1), ("Add `a[i]`:", 0), ("Add a and b:", 0), ("Here b is the number:", 1)):
            self.assertEqual(len(self.found(note("f(a);\n", said=said, given=given))), count, said)

    def test_what_is_given_is_used(self):
        self.assertEqual(self.found(note("f();\n", given="<!-- given: int kBlock -->\n")), ["kBlock is given, and the listing does not use it"])
        self.assertEqual(self.found(note("f(kBlock);\n", given="<!-- given: T kBlock; using T = int -->\n")), [])
        self.assertIn("n", self.found(note("void f() { n = 1; }\n", said="n.", given="<!-- given: int n -->\n")))

    def test_functions_of_the_day(self):
        for code, count in (("const auto s = tile_sum(p);\n", 1), ("float tile_sum(int p) { return p; }\n", 0), ("p.tile_sum(1) + day12::tile_sum(2);\n", 0),
                            ("// tile_sum(p)\n", 0), ("return tile_sum(p);\n", 1)):
            self.assertEqual(len(self.found(note(code), functions=["tile_sum"])), count, code)
        self.assertEqual(self.found(note("tile_sum(1);\n", said="tile_sum", given="<!-- given: using day12::tile_sum -->\n"), ["tile_sum"]), [])


class Compiled(Case):
    """By simtcc, all in few programs."""

    def found(self, *sections):
        """What the compiler says of each listing, by its section."""
        text = "\n".join(sections)
        listings = check_listings.listings(text)
        groups = listing_program.groups(listings)
        said = check_listings.compiled(listing_program.program("day00_x/README.md", groups, ['#include "common/ptx.h"', "#include <cstdint>"]),
                                       "day00_x/README.md")
        numbers = list(dict.fromkeys(one.section for one in listings))
        result = [[] for _ in numbers]
        for line, what in said:
            section = max((one for one in listings if min(one.line, one.given_line or one.line) <= line), key=lambda one: one.line).section
            result[numbers.index(section)].append(what)
        return result

    def test_what_stands_alone(self):
        given = "<!-- given: constexpr int kBlock = 32; float twice(float x) -->\n"
        good = [note("constexpr int kBlock = 32;\n__device__ float twice(float x) { return 2 * x; }\n" + KERNEL),
                note(KERNEL, given=given),
                note("constexpr int kBlock = 32;\n__device__ float twice(float x) { return 2 * x; }\n", KERNEL, KERNEL),
                note("__shared__ float s[32];\nfloat* y = s;\n", "y[0] = 1;\n"),  # what an earlier one declares
                note("for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffff, x, d);\nreturn 2 * x;\n", given="<!-- given: float x -->\n"),
                note("struct Pair {\n  int a;\n", "  int b;\n};\n", "Pair p{1, 2};\n"),
                note("const T y = x[threadIdx.x];\n", given="<!-- given: class T, const T* x -->\n"),
                note("go<<<1, 32>>>(x);\nf(1);\n", given="<!-- given: float* x; __global__ void go(float* x); void f(int i) -->\n"),
                note("days::ptx::cp_async_wait_all();\n"),
                note("int n = 1;\n", "if (n) return;\n", "n[0] = 2;\n", given="<!-- given: int* n -->\n").replace("<!-- given: int* n -->\n", "", 2)]
        self.assertEqual(self.found(*good), [[] for _ in good])

    def test_what_does_not(self):
        self.assertEqual(self.found(note(KERNEL), note("x[0] = 1;\n"), note("f(1);\n", "int x;\n"), note("int x = 1;\n"), note("x = 2;\n")),
                         [["‘kBlock’ was not declared in this scope", "‘twice’ was not declared in this scope"],
                          ["‘x’ was not declared in this scope"], ["‘f’ was not declared in this scope"], [], ["‘x’ was not declared in this scope"]])

    def test_syntax(self):
        self.assertTrue(all(self.found(note("for (...) f();\n"), note("int x = ;\n"))))


class Command(Case):
    def run_it(self, *words):
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            code = check_listings.main(list(words))
        return code, out.getvalue(), err.getvalue()

    def day(self, text):
        self.replace(check_listings, "ROOT", self.folder)
        folder = self.folder / "day07_x"
        folder.mkdir(exist_ok=True)
        (folder / "x.h").write_text("#include <cstdint>\ninline int own(int x) { return x; }\n", encoding="utf-8")
        (folder / "README.md").write_text(text, encoding="utf-8")

    def test_wrong_words(self):
        for words, said in ((["x"], "x: tools/check_listings.py [NN ...]"), (["99"], "no such day"), (["--check"], "--check")):
            code, out, err = self.run_it(*words)
            self.assertEqual((code, out), (2, ""))
            self.assertIn(said, err)

    def test_braces_that_stay_open_spoil_nothing_else(self):
        self.day(note("void f() {\n") + "\n" + note("int64_t x = 1;\n") + "\n" + note("own(y);\n"))
        code, out, _ = self.run_it("7")
        self.assertEqual(code, 1)
        self.assertEqual([line.split(": ", 1) for line in out.splitlines()],
                         [["day07_x/README.md:6", "braces or parentheses stay open, or close what is not open"],
                          ["day07_x/README.md:22", "‘own’ was not declared in this scope"],
                          ["day07_x/README.md:22", "‘y’ was not declared in this scope"], ["FAIL", "3 listings in 1 notes, 3 complaints"]])

    def test_a_good_note(self):
        self.day(note("int64_t x = 1;\n"))
        self.assertEqual(self.run_it("7")[:2], (0, "ok: 1 listings in 1 notes\n"))


if __name__ == "__main__":
    unittest.main()
