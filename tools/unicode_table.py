#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes model/unicode.h: which characters are letters and numbers, for the tokenizer's split. With --check it says whether the file
is what this Python's Unicode makes of it, where both have the same version."""
import re
import sys
import unicodedata
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent / "model" / "unicode.h"


def ranges(letter):
    """[(first, last)] of the characters whose category begins with that letter."""
    found = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)).startswith(letter):
            if found and found[-1][1] == code - 1:
                found[-1][1] = code
            else:
                found.append([code, code])
    return found


def table(name, letter):
    lines, line = [], "   "
    for first, last in ranges(letter):
        word = f" {{0x{first:x}, 0x{last:x}}},"
        if len(line) + len(word) > 108:
            lines.append(line)
            line = "   "
        line += word
    return f"inline constexpr CharacterRange {name}[] = {{\n" + "\n".join([*lines, line]) + "\n};\n"


def text():
    return f"""// SPDX-License-Identifier: MIT
// Written by tools/unicode_table.py from Unicode {unicodedata.unidata_version}: the categories L (letters) and N (numbers), ascending.
#pragma once

#include <cstdint>

namespace model {{

struct CharacterRange {{
  uint32_t first, last;
}};
// clang-format off
{table("kLetters", "L")}{table("kNumbers", "N")}// clang-format on

}}  // namespace model
"""


def main():
    if sys.argv[1:] == ["--check"]:
        there = FILE.read_text(encoding="utf-8")
        version = re.search(r"from Unicode ([\d.]+):", there)[1]
        if version != unicodedata.unidata_version:
            print(f"not compared: {FILE.name} is of Unicode {version}, this Python has {unicodedata.unidata_version}")
        elif there != text():
            sys.exit(f"{FILE.name} is not what tools/unicode_table.py writes: run it")
    elif sys.argv[1:]:
        sys.exit("usage: tools/unicode_table.py [--check]")
    else:
        FILE.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
