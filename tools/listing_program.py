# SPDX-License-Identifier: MIT
"""C++ of which the listings of a note are parts: each in a namespace within that of the listing before it in its section, statements in a
function there. tools/check_listings.py says what a listing may use."""
import re

_NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'(?!\w)', re.DOTALL)
# How what stands outside of functions begins, and what may stand in either place. A string is ___ here.
_OUTSIDE = re.compile(r"(?:template|namespace|extern\s+_{3}(?=\s)|__global__|__device__|__host__|__constant__|static\s+__\w+__|inline)\b"
                      r"|#\s*(?:define|undef)\b")
_EITHER = re.compile(r"(?:struct|class|union|enum|using|typedef|constexpr|static_assert|static\s+constexpr)\b|#")
_STATEMENT = re.compile(r"(?:if|for|while|do|switch|return|else|case|default|break|continue|goto|asm)\b")
_FUNCTION = re.compile(r"(?:[\w:]+(?:<[^;{}]*>)?[\s*&]+)+[\w:~]+\s*\([^;]*\)\s*(?:const|noexcept|override|\s)*\{")
_DEVICE = re.compile(r"\b(?:threadIdx|blockIdx|blockDim|gridDim|__shared__|__sync\w+|__shfl_\w+|days::ptx)\b")
_LOCAL = re.compile(r"(?:[\w>\]][\s&*]+|, )[&*]*(\w+)\s*(?:=|;|\[|\{|\(|,)")  # what a statement declares, and more
_TYPE = re.compile(r"(?:class|typename)\b")
_PREAMBLE = """namespace listings {
struct Returned {  // by statements that return something: anything
  template <class T> __host__ __device__ Returned(const T&) {}
};
"""


def bare(code):
    """Code without comments and strings, character for character."""
    return _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " " if match[0][0] == "/" else "_", match[0]), code)


def comments(code):
    return " ".join(match[0] for match in _NO_CODE.finditer(code) if match[0][0] == "/")


def uses(name, code):
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", code) is not None


def chunks(code):
    """[(offset, text, kind)]: what stands between semicolons and closing braces of the outermost level. Kinds: "outside" of functions,
    "inside" one, "either", and "include"."""
    plain, found, start, depth, at = bare(code), [], 0, 0, 0

    def take(end):
        nonlocal start
        text = plain[start:end]
        head = text.lstrip()
        if head:
            first = start + len(text) - len(head)
            found.append((first, code[first:end], _kind(head)))
        start = end

    while at < len(plain):
        char = plain[at]
        if char == "#" and depth == 0 and not plain[start:at].strip():
            at = re.compile(r"(?:[^\n\\]|\\.|\\\n)*").match(plain, at).end()
            take(at)
            continue
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if char == "}" and depth == 0 and _ends(plain[start:at], plain[at + 1:].lstrip()):
                take(at + 1)
        elif char == ";" and depth == 0:
            take(at + 1)
        at += 1
    take(len(code))
    return found


def _kind(head):
    if re.match(r"#\s*include\b", head):
        return "include"
    if _OUTSIDE.match(head):
        return "outside"
    if _EITHER.match(head):
        return "either"
    return "outside" if _FUNCTION.match(head) and not _STATEMENT.match(head) else "inside"


def _ends(before, after):
    """Whether a closing brace of the outermost level ends what stands before it: it does not in `Vector{} + x` and `struct X {} y;`."""
    goes_on = re.match(r"[;,)\]}.(=\[]|else\b|while\b(?=[^{]*;)|->|\?|[-+*/<>&|:](?!\w)", after)
    return not goes_on and not re.match(r"\s*(?:struct|class|union|enum|using)\b", before)


def split(text, separator):
    """What stands between separators that no bracket surrounds."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "([{<") - (char in ")]}>" and text[at - 1:at + 1] != "->")
        if char == separator and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def givens(text):
    """({name: parameter}, [declaration], [name that a declaration declares]) of what a comment gives. ValueError where one declares no name."""
    parameters, declarations, names = {}, [], []
    for part in split(text, ";"):
        if re.match(r"(?:using|constexpr|inline|struct|enum|template|typedef|extern|static|namespace|__\w+__)\b|class \w+ *\{", part) \
                or "=" in part or part[-1] in ")}":
            declarations.append(part)
            names += _declared(part)
        else:
            for one in split(part, ","):
                reference = re.search(r"\(\s*[&*]+\s*(\w+)\s*\)", one)
                parameters[reference[1] if reference else _name(one)] = one
    return parameters, declarations, names


def _declared(part):
    part = re.sub(r"^template\s*<.*?>\s+(?=\w)", "", part)
    for pattern in (r"(?:struct|class|union)\b[^{]*\{.*\}\s*(\w+)$", r"using\s+(\w+)\s*=", r"using\s+(?:\w+::)+(\w+)$",
                    r"(?:struct|class|enum(?: class)?|union)\s+(\w+)", r"[^=({]*?(\w+)\s*\("):
        match = re.match(pattern, part, re.DOTALL)
        if match:
            return [match[1]]
    return [_name(re.split(r"[={]", one)[0]) for one in split(part, ",")]


def _name(part):
    name = re.search(r"\b([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*$", part)
    if not name:
        raise ValueError(f'the given "{part}" declares no name')
    return name[1]


def groups(found):
    """[[Listing]]: a listing whose braces stay open, and those of its section that go on with it."""
    joined = []
    for listing in found:
        if joined and joined[-1][0].section == listing.section and balance(joined[-1]) > 0:
            joined[-1].append(listing)
        else:
            joined.append([listing])
    return joined


def balance(group):
    plain = "".join(bare(listing.code) for listing in group)
    return sum(plain.count(char) for char in "{(") - sum(plain.count(char) for char in "})")


class _Source:
    """The program's text, whose lines say where in the note they are from."""

    def __init__(self, name):
        self._name, self._lines = name, []

    def add(self, text, line=0):
        self._lines += [f'#line {line} "{self._name}"'] if line else []
        self._lines.append(text.rstrip("\n"))

    def text(self):
        return "\n".join(self._lines) + "\n"


def program(name, joined, includes):
    """The text for the groups of the note of this name."""
    source, nested, section, context = _Source(name), 0, None, ({}, [])
    for line in includes:
        source.add(line)
    for listing in (listing for group in joined for listing in group):
        for _, text, kind in chunks(listing.code):
            if kind == "include":
                source.add(text, listing.line)
    source.add(_PREAMBLE)
    for group in joined:
        if group[0].section != section:
            source.add("}\n" * nested)
            nested, section, context = 0, group[0].section, ({}, [])
        nested += 1
        source.add(f"namespace at_{group[0].line} {{")
        body, parameters = _outside(source, group)
        if body:
            context = _inside(source, body, parameters, context, group[0].given_line or group[0].line)
    source.add("}\n" * (nested + 1))
    return source.text()


def _outside(source, group):
    """Adds what is given, and what stands outside of functions; returns the rest, [(line, statement)], and its parameters."""
    parameters, body = {}, []
    for listing in group:
        mine, declarations, _ = givens(listing.given)
        parameters.update(mine)
        for declaration in declarations:
            source.add(_callable(declaration) + ";", listing.given_line)
    if len(group) > 1:  # one declaration, in pieces
        for listing in group:
            source.add(listing.code, listing.line)
        return [], parameters
    parts = [(group[0].line + group[0].code.count("\n", 0, at), text, kind) for at, text, kind in chunks(group[0].code) if kind != "include"]
    last = max((at for at, (_, _, kind) in enumerate(parts) if kind == "outside"), default=-1)
    statements = any(kind == "inside" for _, _, kind in parts)
    for at, (line, text, kind) in enumerate(parts):
        if kind == "outside" or (kind == "either" and (at < last or not statements) and not text.startswith("#pragma")):
            source.add(text, line)
        else:
            body.append((line, text))
    return body, parameters


def _callable(declaration):
    """A given function may be called from everywhere."""
    if "__" in declaration or not re.match(r"[^={]*\w\s*\(", declaration):
        return declaration
    return re.sub(r"^(?:template\s*<.*?>\s+(?=\w))?", r"\g<0>__host__ __device__ ", declaration, count=1)


def _inside(source, body, parameters, context, line):
    """Adds a function of statements. context: the parameters and statements of the section's listings before this one, which stand around
    it where it uses any of what they declare; returns the next one's."""
    around, before = context
    if any(around[name] != one if name in around else any(uses(name, bare(text)) for _, text in before) for name, one in parameters.items()):
        around, before = {}, []  # this one is given another thing by a name that an earlier one uses
    around = {**around, **parameters}
    mine = bare("\n".join(text for _, text in body))
    needed = before if any(uses(name, mine) for _, text in before for name in _LOCAL.findall(bare(text))) else []
    plain = bare("\n".join(text for _, text in [*needed, *body]))
    types = [one for one in around.values() if _TYPE.match(one)]
    others = [one for name, one in around.items() if uses(name, plain) and not _TYPE.match(one)]
    result = "auto" if not re.search(r"\breturn\b", plain) or re.search(r"\breturn\s*;", plain) else "Returned"
    where = "" if "<<<" in plain else "__device__ " if _DEVICE.search(plain) else "__host__ __device__ "
    source.add(f"template <{', '.join(types)}>" if types else "", line)
    source.add(f"{where}{result} statements({', '.join(others)}) {{", line)
    for at, text in needed:
        source.add(text, at)
    source.add("{")
    for at, text in body:
        source.add(text, at)
    source.add("}\n}")
    return around, [*before, *body]
