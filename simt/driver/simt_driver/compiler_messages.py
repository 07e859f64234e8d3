# SPDX-License-Identifier: MIT
"""What compiler and linker say about a program, told in the learner's own files and lines."""
from __future__ import annotations

import os
import re

# Headers of CUDA's and NVIDIA's device libraries that simt has not even a stub for.
_DEVICE_LIBRARIES = (
    (r"thrust/", "Thrust"), (r"cub/", "CUB"), (r"cutlass/", "CUTLASS"), (r"cute/", "CuTe"), (r"cublas", "cuBLAS"),
    (r"cufft", "cuFFT"), (r"curand", "cuRAND"), (r"cusparse", "cuSPARSE"), (r"cusolver", "cuSOLVER"), (r"cudnn", "cuDNN"),
    (r"nvrtc", "NVRTC"), (r"npp", "NPP"), (r"nccl", "NCCL"), (r"nvjpeg", "nvJPEG"), (r"cutensor", "cuTENSOR"),
    (r"nvml", "NVML"), (r"cupti", "CUPTI"), (r"nvgraph", "nvGRAPH"), (r"optix", "OptiX"), (r"nvshmem", "NVSHMEM"),
    (r"nvJitLink", "nvJitLink"), (r"(raft|rmm|cudf|cuco|moderngpu)/", "this library"),
)

# What a program can do without one.
_WAYS_OUT = {
    "CUB": "Write the step as a kernel; cg::reduce() and cg::inclusive_scan() do a warp's.",
    "Thrust": "Write the step as a kernel, or with the C++ library on the host.",
    "cuBLAS": "Write the product as a kernel.",
    "cuRAND": "Let the kernel hash seed, thread and step into random numbers.",
    "cuFFT": "Write the transform as a kernel.",
    "cuda::ptx": "Write the instruction as inline PTX, asm volatile(\"...\"): it is interpreted.",
    "cuda::annotated_ptr": "Use the pointer as it is: what this adds are hints to a GPU's caches.",
    "cuda::mr": "Call cudaMalloc() or cudaMallocAsync().",
}
_WAY_ROUND = "Lines that only a GPU needs may stand between #ifndef __SIMT__ and #endif."


# What g++, clang, nvcc, the linker and our own translator say when there is no more memory, at a line's start or behind the
# tool's name or a place, so that nothing that a program itself spells is taken for it.
_NO_MEMORY = re.compile(
    r"^(?:virtual memory exhausted: |LLVM ERROR: out of memory|terminate called after throwing an instance of 'std::bad_alloc'"
    r"|\S*(?:cc1\w*|lto1|as|ld\S*|[gc]\+\+\S*|g?cc\S*|clang\S*|collect2|nvcc|cicc|ptxas|cudafe\+\+|simtcc)(?: error| fatal)? *:"
    r"(?: fatal error:| internal compiler error:| error:| final link failed:)* *(?:.*out of memory|.*memory exhausted"
    r"|.*virtual memory exhausted|.*Cannot allocate memory|Killed signal terminated program|unable to execute command: Killed"
    r"|ld terminated with signal 9|'\S+' died due to signal 9)"
    r"|\S+\(\d+\): catastrophic error: out of memory)", re.MULTILINE)


def lacking(output, code=1):
    """What the machine had too little of for a build tool of this output and exit code: "memory", "room on the disk"; "" where
    the tool failed for another reason."""
    if re.search(r"No space left on device|Disk quota exceeded", output):
        return "room on the disk"
    # 9 is the signal by which a system ends whatever takes too much; 137 is how a shell says so.
    return "memory" if code in (-9, 137) or _NO_MEMORY.search(output) else ""


def relief(lack, command):
    """A command that helps against it."""
    return f"taskset -c 0 {command}   (one file at a time)" if lack == "memory" else "df -h . /tmp"


def compiling(output, include):
    """A compiler's messages; include: the folder of simt's headers."""
    libraries = _device_libraries(output)
    if libraries:
        return "".join(line + "\n" for line in libraries)
    output = re.sub(r"(?:const )?simt_T\d+_\w+\s*(?:&|)\s*\{aka (.+?)\}", r"\1", output)  # a __shared__ variable's type
    output = re.sub(r"simt_T\d+_(\w+)", r"\1", output)
    output = re.sub(r"^.*: In lambda function:\n", "", output, flags=re.MULTILINE)
    output = re.sub(r"::<lambda\(\)( mutable)?>", "", output)  # a kernel's body
    return _without_our_headers(_blame_the_caller(output, include), include)


def once(output):
    """A compiler's messages without those that it repeats for each type of a template, and of the way there only where it begins."""
    told, context, seen, skipping = [], [], set(), False
    for line in output.splitlines():
        message = re.match(r"(\S+?:\d+:\d+: (?:fatal )?(?:error|warning): .*)", line)
        if message:
            key = re.sub(r" \[with [^\]]*\]", "", message[1])
            skipping = key in seen
            seen.add(key)
            if not skipping:
                told += [part for part in context if not re.search(r":\s+required (?:from|by) (?!here)", part)] + [line]
            context = []
        elif re.match(r"\S+: (?:In|At) |\S+:\d+:\d+:\s+(?:required|recursively required) ", line):
            context.append(line)
        elif not skipping:
            told += [*context, line]
            context = []
    return "".join(line + "\n" for line in told)


def _device_libraries(output):
    """The one message that counts where a library is missing: what is used of it, or its header, the line, and what can be done."""
    told, titles = [], []
    for line in output.splitlines():
        missing = re.match(r"(.+?):(\d+):\d+: fatal error: '?([\w./+-]+?)'?(?:: No such file or directory| file not found)", line)
        refused = re.match(r"(.+?:\d+): error: (.+: <\S+>: (.+) is a device library: it has no CPU version here)$", line)
        unknown = re.match(r"(.+?:\d+):\d+: error: .*?[‘'](\w+)[’']", line)
        message = title = None
        if refused:
            message, title = f"{refused.group(1)}: error: {refused.group(2)}", refused.group(3)
        elif missing and re.match(r"(torch|ATen|c10)/", missing.group(3)):
            return [f"{missing.group(1)}:{missing.group(2)}: error: <{missing.group(3)}>: PyTorch's headers are not found",
                    "-I takes their folders, which torch.utils.cpp_extension.include_paths() names.",
                    "How kernels become operators of PyTorch, on a CPU, too: docs/pytorch.md"]
        elif missing:
            title = next((title for start, title in _DEVICE_LIBRARIES if re.match(start, missing.group(3))), None)
            place, header = f"{missing.group(1)}:{missing.group(2)}", missing.group(3)
            message = f"{place}: error: <{header}>: {title} is a device library: it has no CPU version here"
        elif unknown and re.match(r"(?:cub|thrust)$|curand_|[a-z]+[A-Z]|[A-Z]+_", unknown.group(2)):
            # A C++ file is not translated: the compiler meets a name that the empty header does not declare.
            title = next((title for start, title in _DEVICE_LIBRARIES
                          if re.match(start.replace("/", "$"), unknown.group(2), re.IGNORECASE)), None)
            message = f"{unknown.group(1)}: error: {unknown.group(2)}: {title} is a device library: it has no CPU version here"
        if title and title not in titles:
            told.append(message)
            titles.append(title)
    return told + [_WAYS_OUT[title] for title in titles if title in _WAYS_OUT] + [_WAY_ROUND] * bool(told)


def _blame_the_caller(output, include):
    """An error inside one of simt's headers comes after the line of the program that led there."""
    inside = os.path.normpath(include) + os.sep
    lines, result = output.splitlines(), []
    for index, line in enumerate(lines):
        error = re.match(r"(.+?):\d+:\d+: (?:fatal )?error: (.*)", line)
        if error and os.path.normpath(error.group(1)).startswith(inside):
            context = [*reversed(lines[max(0, index - 12):index]), *lines[index + 1:index + 12]]
            for other in context:
                required = re.match(r"(.+?:\d+):\d+: +(?:required from|note: in instantiation)", other)
                if required and not os.path.normpath(required.group(1)).startswith(inside):
                    result.append(f"{required.group(1)}: error: {error.group(2)}")
                    break
        result.append(line)
    return "\n".join(result) + ("\n" if result else "")


def _without_our_headers(output, include):
    """Notes about simt's headers shrink to what the learner can use: the functions that would fit."""
    inside = re.escape(os.path.normpath(include) + os.sep)
    result, quoting = [], False
    for line in output.splitlines():
        stack = re.match(rf"(?:In file included|\s+) from ({inside}|<command-line>)", line)
        note = re.match(rf"{inside}[^:]*:\d+:\d+: note: +?(.*)", line)
        quoting = bool(note) or (quoting and bool(re.match(r"\s*\d* \|", line)))
        if note and note.group(1).startswith("candidate: "):
            result.append("  " + note.group(1).replace(", simt::Site)", ")").replace("simt::Site)", ")"))
        elif not stack and not quoting:
            result.append(line)
    return "\n".join(result) + ("\n" if result else "")


def linking(output, cwd):
    """A linker's messages (GNU ld, gold, lld): undefined and doubly defined names with the lines that use them."""
    told, rest = [], []
    for line in output.splitlines():
        undefined = re.search(r"(?:^|: )([^:\s][^:]*:\d+): undefined reference to [`'](.*)'", line)
        nowhere = re.search(r"undefined reference to [`'](.*)'|undefined symbol: (.*)", line)
        double = re.search(r"(?:^|: )([^:\s][^:]*:\d+): multiple definition of [`'](.*?)'; .*?([^:\s]*:\d+): first defined", line)
        if double:
            place, name, first = double.groups()
            told.append(f"{_near(place, cwd)}: error: {name} is defined a second time; first at {_near(first, cwd)}")
        elif undefined:
            told.append(f"{_near(undefined.group(1), cwd)}: error: {_missing(undefined.group(2))}")
        elif nowhere:
            name = nowhere.group(1) or nowhere.group(2)
            told.append("error: the program has no main()" if name == "main" else f"error: {_missing(name)}")
        elif not re.search(r"in function [`']|collect2: error|ld returned|linker command failed|warning: .*(executable stack|"
                           r"missing .note.GNU-stack)|NOTE: This behaviour", line):
            rest.append(line)
    return "".join(line + "\n" for line in [*dict.fromkeys(told), *rest])


def no_launcher(output, launcher, file):
    """A linker's messages where a learner's file lacks the launcher that the day calls: what it has to define. All other
    output is told as it is."""
    types = re.findall(rf"[ :]{launcher}(?:<[^`'\n]*?>)?\((?:\w+::)*(\w+<[^()`'\n]*>) const&, \w+\*?\)", output)
    if not types:
        return output
    told = [f"{file}: the day calls a launcher that is not there:"]
    told += [f"    {launcher}(const {_short_type(name)}&, cudaStream_t)" for name in dict.fromkeys(types)]
    return "\n".join([*told, "It has to have this name. A template also needs a line below it:",
                      f"    INSTANTIATE_LAUNCHER({launcher}, ...);"]) + "\n"


def _short_type(name):
    for long, short in (("__half", "half"), ("__nv_bfloat16", "bf16"), ("unsigned char", "uint8_t"), ("unsigned int", "uint32_t")):
        name = name.replace(long, short)
    return name


def _missing(name):
    library = next((title for start, title in _DEVICE_LIBRARIES if re.match(start, name)), None)
    if library:
        return f"{name}: {library} is a device library: it has no CPU version here"
    if re.match(r"cu[A-Z]|cuda[A-Z]", name):
        return f"{name.partition('(')[0]}() has no CPU version here"
    return f"{name} is used but defined nowhere"


def _near(place, cwd):
    path, _, line = place.rpartition(":")
    relative = os.path.relpath(path, cwd)
    return f"{path if relative.startswith('..') else relative}:{line}"
