#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Indices of 32 bits, which check warns of because no shape that it can run is large enough."""
import unittest

import support  # noqa: F401
from days_cli import catalog, wide_indices

MATRIX = "__global__ void k(const float* in, float* out, int rows, int cols) {\n  const int row = threadIdx.y, col = 3;\n  %s\n}\n"


class Found(unittest.TestCase):
    def lines(self, statement, source=MATRIX, headers=""):
        return [what for _, what in wide_indices.found(source % statement, headers)]

    def test_a_product_of_two_variables(self):
        for index, first in (("row * cols + col", "row"), ("(row + 8) * cols + col", "row + 8"), ("col + row * cols", "row")):
            product = f"({first}) * cols" if " " in first else f"{first} * cols"
            self.assertEqual(self.lines(f"out[{index}] = 0;"),
                             [f"{product} has 32 bits and wraps beyond 2,147,483,647; int64_t{{{first}}} * cols does not"])
        self.assertEqual(wide_indices.found(MATRIX % "out[row * cols] = 0;")[0][0], 3)
        self.assertEqual(len(self.lines("p.out[p.row * p.cols] = in[row * cols];", MATRIX + "struct P { float* out; int row, cols; };")), 2)

    def test_what_is_added_to_a_pointer(self):
        for statement in ("const float* a = in + row * cols;", "out[0] = *(in + col + row * cols);", "load(in + row * cols, col);"):
            self.assertEqual(self.lines(statement), ["row * cols has 32 bits and wraps beyond 2,147,483,647; int64_t{row} * cols does not"], statement)
        for statement in ("const float* a = in + int64_t{row} * cols;", "const int n = col + row * cols;", "load(in + col, row * cols);",
                          "if (row >= col * cols) return; load(in + row * cols, col);"):
            self.assertEqual(self.lines(statement), [], statement)

    def test_what_cannot_wrap_or_cannot_be_told(self):
        for statement in ("out[int64_t{row} * cols + col] = 0;", "out[static_cast<size_t>(row) * cols] = 0;", "out[32 * row] = 0;",
                          "out[row * 32] = 0;", "tile[row * cols] = 0;  // shared", "// out[row * cols] = 0;", "out[row * unknown] = 0;",
                          "out[blockIdx.x * blockDim.x + threadIdx.x] = 0;"):
            self.assertEqual(self.lines(statement), [], statement)
        wide = MATRIX.replace("int cols", "int64_t cols")
        self.assertEqual(self.lines("out[row * cols] = 0;", wide), [])

    def test_an_index_that_never_gets_to_the_end(self):
        text = "__global__ void k(float* c, int64_t n) {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) c[i] = 0;\n}\n"
        self.assertEqual(wide_indices.found(text), [(3, "i has 32 bits and n has 64: beyond 2,147,483,647 it never gets there")])
        self.assertEqual(wide_indices.found(text.replace("const int i", "const int64_t i")), [])
        self.assertEqual(wide_indices.found(text.replace("int64_t n", "int n")), [])

    def test_the_course_itself(self):
        for day in catalog.here():
            headers = "".join(path.read_text(encoding="utf-8") for path in sorted(day.folder.glob("*.h")))
            for path in sorted(day.folder.glob("*.cu")):
                self.assertEqual(wide_indices.found(path.read_text(encoding="utf-8"), headers), [], path)


if __name__ == "__main__":
    unittest.main()
