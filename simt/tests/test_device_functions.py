# SPDX-License-Identifier: MIT
"""Every device function that the CUDA toolkit's headers declare is there on the CPU backend, with the same result type.

The toolkit's own headers are preprocessed by nvcc, the declarations of __device__ functions in them become one
static_assert each, and those are compiled against simt/include. Skipped where there is no toolkit.
"""

import os
import re
import shutil
import string
import subprocess
import tempfile
import unittest
from pathlib import Path

SIMT = Path(__file__).resolve().parents[1]
HEADERS = ["cuda_runtime.h", "cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h", "cuComplex.h",
           "cuda_pipeline.h", "cuda_awbarrier.h"]
# Files whose declarations count; a .hpp only defines what a .h declares.
COUNTED = re.compile(r"/(crt/\w+|sm_\w+|device_\w+|cuda_fp\w+|cuda_bf16|cuComplex|cuda_pipeline\w*|cuda_awbarrier\w*|"
                     r"vector_functions|\w+_indirect_functions)\.h$")

# Names that are not there, and why.
ABSENT = {
    "removed for compute capability 7.0 and later": r"__any|__all|__ballot|any|all|ballot",
    "another part of the headers is built on it, programs are not": r"__internal_\w+|__nv_memcpy_async_shared_global_\d+|"
        r"__nv_associate_access_property|__u128Atomic\w+|__cudaPushCallConfiguration|__nv_aligned_device_malloc|\w+_impl",
    "the profiler's counters of old devices": r"__pm[0-3]",
    "addresses of multicast have no use without its instructions": r"__cluster_map_shared_multicast",
}
# A device function's arguments that std::declval cannot name.
VARIADIC = "..."


def statements(text):
    """(file, statement) of each declaration at namespace scope, from preprocessed text."""
    scopes, statement, file = [], "", ""
    token = re.compile(r'^#[^\n]*$|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[;{}]|[^;{}"\'#]+|#', re.M)
    for match in token.finditer(text):
        word = match.group()
        hidden = "body" in scopes
        if len(word) > 1 and word[0] == "#":
            marker = re.match(r'#\s*(?:line\s+)?\d+ "([^"]*)"', word)
            file = marker.group(1) if marker else file
        elif word == "{":
            transparent = re.search(r'\bextern\s*"C(\+\+)?"\s*$', statement.strip())
            if statement.strip() and not hidden and not transparent:
                yield file, statement.strip()
            scopes.append("open" if transparent and not hidden else "body")
            statement = ""
        elif word == "}":
            if scopes:
                scopes.pop()
            statement = ""
        elif word == ";":
            if statement.strip() and not hidden:
                yield file, statement.strip()
            statement = ""
        elif not hidden:
            statement += word


def without_attributes(text):
    """The text without __attribute__((...)), and whether one of them was `device`."""
    kept, device, position = "", False, 0
    while position < len(text):
        match = re.compile(r"__attribute__\s*(?=\(\()").match(text, position)
        if not match:
            kept += text[position]
            position += 1
            continue
        end, depth = match.end(), 0
        while True:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        device = device or re.search(r"\b(__)?device(__)?\b", text[match.end():end]) is not None
        kept += " "
        position = end
    return kept, device


def split_at_commas(text):
    parts, depth, part = [], 0, ""
    for c in text:
        depth += {"(": 1, "<": 1, "[": 1, ")": -1, ">": -1, "]": -1}.get(c, 0)
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return parts + [part] if part.strip() else parts


def type_of_parameter(text):
    """`const float* p = 0` becomes `const float*`."""
    text = re.sub(r"\b(__restrict__|__restrict)\b", "", text.split("=")[0]).strip()
    array = re.search(r"\[[^\]]*\]$", text)
    text = text[:array.start()].strip() if array else text
    named = re.match(r"^(.*?[\s*&])([A-Za-z_]\w*)$", text, re.S)
    builtin = "void char short int long float double signed unsigned const volatile bool size_t".split()
    if named and named.group(2) not in builtin:
        words = re.findall(r"\w+", named.group(1))
        if [w for w in words if w not in ("const", "volatile", "enum", "struct")]:
            text = named.group(1)
    return " ".join(text.split()) + ("*" if array else "")


def functions(text):
    """(result, name, [parameter types]) of each device function, once."""
    seen = set()
    for file, statement in statements(text):
        declaration, device = without_attributes(statement)
        if not device or not COUNTED.search(file) or re.match(r"\s*(template|typedef)\b", declaration):
            continue
        if "cuda_device_runtime" in file or "operator" in declaration or "::" in declaration:
            continue
        declaration = re.sub(r"\b(static|extern|inline|__inline__|__inline|constexpr|__extension__)\b|\"C\"", " ",
                             declaration)
        declaration = re.sub(r"(noexcept\s*(\([^)]*\))?|throw\s*\(\))\s*$", "", declaration.strip()).strip()
        match = re.match(r"^(.*?)\b([A-Za-z_]\w*)\s*\((.*)\)$", declaration, re.S)
        if not match or not match.group(1).strip():
            continue
        result = " ".join(match.group(1).split())
        parameters = [type_of_parameter(p) for p in split_at_commas(match.group(3))]
        parameters = [] if parameters == ["void"] else parameters
        if (result, match.group(2), tuple(parameters)) not in seen:
            seen.add((result, match.group(2), tuple(parameters)))
            yield result, match.group(2), parameters


def check_of(result, name, parameters):
    arguments = ", ".join(f"std::declval<{p}>()" for p in parameters)
    return (f"static_assert(std::is_same<std::remove_cv_t<{result}>, "
            f"std::remove_cv_t<decltype(::{name}({arguments}))>>::value, \"another result\");")


def find_nvcc():
    homes = [os.environ.get(v) for v in ("CUDA_HOME", "CUDA_PATH")] + ["/usr/local/cuda"]
    return shutil.which("nvcc") or next((f"{h}/bin/nvcc" for h in homes if h and Path(h, "bin/nvcc").exists()), None)


def missing_from(declared, compiler):
    """The functions that the compiler does not accept: {"float f(float)": "its message"}"""
    include = ["#if __has_include(<%s>)\n#include <%s>\n#endif" % (h, h) for h in HEADERS]
    lines = "\n".join(include + ["#include <type_traits>", "#include <utility>"]).split("\n")
    shown = {}
    for result, name, parameters in declared:
        lines.append(check_of(result, name, parameters))
        shown[len(lines)] = f"{result} {name}({', '.join(parameters)})"
    command = [compiler, "-std=c++17", "-x", "c++", "-", "-fsyntax-only", "-D__CUDACC__", "-D__SIMT__=1", "-fmax-errors=0",
               "-isystem", str(SIMT / "include")]
    run = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True)
    found = {}
    for line in run.stderr.splitlines():
        message = re.match(r"<stdin>:(\d+):\d+: error: (.*)", line)
        if message and int(message.group(1)) in shown:
            found.setdefault(shown[int(message.group(1))], message.group(2))
        elif ": error: " in line or "fatal error: " in line:
            found.setdefault(line, "")
    return found


class DeviceFunctions(unittest.TestCase):
    def declared(self):
        nvcc = find_nvcc()
        if not nvcc:
            self.skipTest("no CUDA toolkit here whose headers could be read")
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "headers.cu")
            source.write_text("".join("#if __has_include(<%s>)\n#include <%s>\n#endif\n" % (h, h) for h in HEADERS))
            text = subprocess.run([nvcc, "-E", "-arch=sm_90a", str(source)], capture_output=True, text=True)
        self.assertEqual(text.returncode, 0, text.stderr)
        return list(functions(text.stdout))

    def test_all_there(self):
        declared = self.declared()
        self.assertGreater(len(declared), 1000, "the headers were not understood")
        absent = re.compile("|".join(ABSENT.values()))
        wanted = [f for f in declared if not absent.fullmatch(f[1]) and VARIADIC not in f[2]]
        missing = missing_from(wanted, shutil.which("g++") or "c++")
        self.assertFalse(missing, "missing: " + "; ".join(f"{f}: {why}" for f, why in sorted(missing.items())))

    def test_a_missing_one_is_noticed(self):
        compiler = shutil.which("g++") or "c++"
        declared = [("float", "sqrtf", ["float"]), ("int", "__popc", ["float*"]), ("double", "__float2int_rn", ["float"]),
                    ("int", "__no_such_function", ["int"])]
        missing = missing_from(declared, compiler)
        self.assertEqual(sorted(missing), ["double __float2int_rn(float)", "int __no_such_function(int)",
                                           "int __popc(float*)"])

    def test_macros_of_one_letter_do_no_harm(self):
        # Programs are built with -DN=1024, or define such names before they include a header.
        text = "".join("#include <%s>\n" % h for h in HEADERS + ["cooperative_groups/reduce.h", "cuda/pipeline"])
        for compiler in [c for c in ("g++", "clang++", "clang++-14") if shutil.which(c)]:
            command = [compiler, "-std=c++17", "-x", "c++", "-", "-fsyntax-only", "-D__CUDACC__", "-D__SIMT__=1",
                       "-isystem", str(SIMT / "include")] + [f"-D{c}=1024" for c in string.ascii_uppercase]
            run = subprocess.run(command, input=text, capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
