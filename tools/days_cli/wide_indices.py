# SPDX-License-Identifier: MIT
"""Indices that no tested shape makes wrong: of 32 bits, where an array may have more than 2^31 elements. Found by reading the
source, since memory of that size is nobody's to test with. What cannot be told from the file and its day's headers is passed by."""
from __future__ import annotations

import re

_NARROW = r"int|unsigned(?:\s+int)?|u?int32_t"
_WIDE = r"u?int64_t|size_t|ptrdiff_t|(?:unsigned\s+)?long(?:\s+long)?"
_PLACE = r"(?:blockIdx|blockDim|gridDim|threadIdx)\.[xyz]"


def _code(text):
    """Without comments and strings, lines and columns as they were."""
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.DOTALL)


def _declared(code, types):
    """The names of variables, parameters and members of one of these types."""
    names = set()
    for match in re.finditer(rf"(?<![\w:<{{])(?:{types})\s+(?=([^;(){{}}]*))", code):
        for i, part in enumerate(match[1].split(",")):
            name = re.match(r"\s*(\w+)\s*(?:=|\[|$)", part)
            if not name or (i and re.match(r"\s*(?:const\s+)?\w+\s+\w", part)):
                break
            names.add(name[1])
    return names


def _subscripts(code):
    """(where it begins, the array, the index) of each name[index]."""
    for match in re.finditer(r"([\w.]+)\[", code):
        depth, at = 1, match.end()
        while depth and at < len(code):
            depth += {"[": 1, "]": -1}.get(code[at], 0)
            at += 1
        yield match.start(), match[1], code[match.end():at - 1]


def _offsets(code):
    """The same of each name + offset, as far as a comma or what closes around it."""
    for match in re.finditer(r"(?<![\w.)\]])((?:\w+(?:\.|->))*\w+)\s*\+(?![+=])", code):
        depth, at = 0, match.end()
        while at < len(code) and (depth or code[at] not in ",;)]}?:<>="):
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(code[at], 0)
            at += 1
        yield match.start(), match[1].replace("->", "."), code[match.end():at]


def found(text, headers=""):
    """[(line, what)]: products of two 32-bit variables in an index of a pointer or in what is added to one, and 32-bit variables that are compared with a
    64-bit extent. headers: the text of the day's headers, which declare the problem's members."""
    code, known = _code(text), _code(headers)
    wide = _declared(code + known, _WIDE)
    narrow = _declared(code + known, _NARROW) - wide - set(re.findall(r"constexpr\s+\w+\s+(\w+)", code + known))
    pointers = set(re.findall(r"\*\s*(?:__restrict__\s+)?(?:const\s+)?(\w+)\s*[,)=;]", code + known))
    arrays = set(re.findall(r"(?<![\w.])(?:float|T|int|double|half)\s+(\w+)\[", code))
    arrays |= set(re.findall(r"(\w+)\s*=\s*reinterpret_cast<", code))  # pieces of shared memory
    is_narrow = lambda word: word.rpartition(".")[2] in narrow or re.fullmatch(_PLACE, word)  # noqa: E731
    result = []
    for at, array, index in (*_subscripts(code), *_offsets(code)):
        if array.rpartition(".")[2] not in pointers - arrays or re.search(_WIDE, index):
            continue
        for product in re.finditer(r"(\([^()]*\)|[\w.]+)\s*\*\s*([\w.]+)", index):
            words = re.findall(r"[A-Za-z_][\w.]*", product[1]) or ["0"]
            if re.fullmatch(_PLACE, product[2]) or product[2] == "0":
                continue  # a thread's number, which the grid bounds
            if re.search(rf"[<>]=?\s*\w+\s*\*\s*{re.escape(product[2])}\s*[);]", code):
                continue  # a thread's number is held against a whole of so many: that fits
            if all(map(is_narrow, words)) and is_narrow(product[2]) and not all(re.fullmatch(_PLACE, word) for word in words):
                first = product[1].strip("()")
                result.append((code.count("\n", 0, at) + 1, f"{' '.join(product[0].split())} has 32 bits and wraps beyond "
                                                              f"2,147,483,647; int64_t{{{first}}} * {product[2]} does not"))
                break
    for match in re.finditer(r"(?<![\w.])(\w+)\s*<\s*((?:\w+\.)?(\w+))", code):
        if match[1] in narrow and match[3] in wide and re.search(rf"\b(?:{_NARROW})\s+{match[1]}\s*=[^;]*blockIdx", code):
            result.append((code.count("\n", 0, match.start()) + 1,
                           f"{match[1]} has 32 bits and {match[2]} has 64: beyond 2,147,483,647 it never gets there"))
    return sorted(dict.fromkeys(result))
