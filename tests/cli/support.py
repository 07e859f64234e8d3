# SPDX-License-Identifier: MIT
"""What the tests of ./days share: a fresh folder, fake tools on the PATH, the command run as a learner runs it."""
import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from days_cli import catalog, cmake_tools, console, gpu, main, settings, toolchain  # noqa: E402

_CACHED = (catalog.tracks, catalog.spine, catalog.hangs_on, cmake_tools.oldest_cmake, gpu.detect, settings.load, toolchain.ccache_place,
           toolchain.host_compiler, toolchain.nvcc, toolchain.nvcc_host)


def forget():
    """Everything that days has probed."""
    for function in _CACHED:
        getattr(function, "cache_clear", lambda: None)()
    console.set_color("auto")


def ladder(name, rungs, extents=("n",), types=("fp32",), **more):
    """A ladder of a ladder.json. rungs: {name: launcher}."""
    rows = [{"name": rung, "kind": "variant", "launcher": launcher, "types": list(types)} for rung, launcher in rungs.items()]
    return {"name": name, "extents": list(extents), "types": list(types), "rows": rows, "lesson": "", **more}


def describe(folder, *ladders):
    """A day's ladder.json of these ladders, beside a ladder.cpp that says nothing."""
    (folder / "ladder.cpp").write_text("")
    (folder / "ladder.json").write_text(json.dumps({"source": "", "ladders": ladders}))


def alive(process):
    """Does a process of this number run? One that has ended and that nobody has waited for does not."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z" if os.path.isdir("/proc/self") else True


class Case(unittest.TestCase):
    """Each test has an empty folder, self.folder, with a space in its name, and self.bin first on the PATH."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="days test ")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name).resolve()
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        self.environment(PATH=f"{self.bin}{os.pathsep}{os.environ['PATH']}")
        for name in ("CXX", "CUDACXX", "CUDA_HOME", "CUDA_PATH", "CUDAHOSTCXX", "NVCC_CCBIN", "CUDA_VISIBLE_DEVICES",
                     "VIRTUAL_ENV", "CONDA_PREFIX", "COLAB_RELEASE_TAG", "NO_COLOR"):
            os.environ.pop(name, None)  # restored with the rest of the environment
        forget()
        self.addCleanup(forget)

    def environment(self, **values):
        patch = mock.patch.dict(os.environ, values)
        patch.start()
        self.addCleanup(patch.stop)

    def replace(self, target, name, value):
        patch = mock.patch.object(target, name, value)
        patch.start()
        self.addCleanup(patch.stop)

    def tool(self, name, script):
        """A fake program on the PATH, a shell script."""
        path = self.bin / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
        return path

    def only_fakes(self, *real):
        """The PATH is self.bin alone, with links to these real programs."""
        for name in real:
            (self.bin / name).symlink_to(shutil.which(name, path=os.environ["PATH"].replace(str(self.bin), "/")))
        self.environment(PATH=str(self.bin))

    def days(self, *arguments):
        """(exit code, stdout, stderr) of the command, in this process."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main.main(list(arguments))
        self.check_form(out.getvalue() + err.getvalue())
        return code, out.getvalue(), err.getvalue()

    def shell(self, *arguments, **options):
        """The same as a process of its own, from the folder `cwd`."""
        done = subprocess.run([str(ROOT / "days"), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, check=False, **options)
        self.check_form(done.stdout + done.stderr)
        return done

    def check_form(self, text):
        """No escapes off a terminal, no traceback, at most 80 columns but for paths and commands to copy."""
        self.assertNotIn("\033", text)
        self.assertNotIn("Traceback", text)
        for line in text.splitlines():
            if len(line) > 80 and not re.search(r"^Next: |/\S*$|^ +(pip|sudo|https)", line):
                self.fail(f"{len(line)} columns: {line}")


# What the fakes of NVIDIA's tools say.
def smi(name="Tesla T4", capability="7.5", memory=15360, driver="580.82.07", cuda="13.0"):
    return f"""case "$*" in
*query-gpu*) echo "{name}, {capability}, {memory}, {driver}" ;;
*) echo "| NVIDIA-SMI {driver}    Driver Version: {driver}    CUDA Version: {cuda}  |" ;;
esac
"""


def nvcc(root, release="13.0", codes="75 80 86 89 90 100 120", program="exit 0"):
    """A fake nvcc: compiling touches the output, linking makes a shell script of `program`."""
    listed = " ".join(f"sm_{code}" for code in codes.split())
    return f"""echo "$*" >> "{root}/nvcc.log"
case "$*" in
*--version*) echo "Cuda compilation tools, release {release}, V{release}.88"; exit ;;
*--dryrun*) echo "#\\$ TOP={root}" >&2; exit ;;
*--list-gpu-code*) printf '%s\\n' {listed}; exit ;;
esac
link=1 out= deps=
while [ $# -gt 0 ]; do
  case "$1" in
  -c) link= ;;
  -o) out=$2; shift ;;
  -MF) deps=$2; shift ;;
  esac
  shift
done
[ -n "$deps" ] && printf 'x:\\n' > "$deps"
if [ -n "$link" ]; then printf '#!/bin/sh\\n%s\\n' '{program}' > "$out"; chmod +x "$out"; else : > "$out"; fi
"""


def toolkit(root, gnu=15, clang=21):
    """The header of a toolkit that says which host compilers it takes."""
    header = root / "include" / "crt" / "host_config.h"
    header.parent.mkdir(parents=True)
    header.write_text(f"#if __GNUC__ > {gnu}\n#error\n#endif\n#if (__clang_major__ >= {clang}) || (__clang_major__ < 3)\n")


def result_row(name, microseconds, table_bytes=2**31, limit=4e12, kind="variant", noise=0.001, **more):
    seconds = microseconds * 1e-6
    return {"name": name, "kind": kind, "result": "ok", "worst_error": 0, "seconds": seconds, "noise": noise, "runs": 100,
            "bytes_per_second": table_bytes / seconds, "flops_per_second": 0,
            "of_limit": table_bytes / seconds / limit, "of_sustained": table_bytes / seconds / limit / 0.97, **more}


def result_table(rows, rows_count=16384, sweep=False, **more):
    size = rows_count * 16384 * 4
    return {"ladder": "transpose", "type": "fp32", "shape": {"rows": rows_count, "cols": 16384}, "read_bytes": size,
            "written_bytes": size, "flops": 0, "verified": "reference", **({"sweep": True} if sweep else {}),
            "limit": {"name": "copy", "per_second": 4e12, "sustained_per_second": 3.88e12}, "rows": rows, **more}


def result_file(tables, name="NVIDIA H200", cuda="13.0", driver="580.82.07", **more):
    """A result file of schema 1 as docs/results.md has it."""
    return {"schema": 1, "day": "day13_transpose", "command": "bench", "backend": "cuda",
            "device": {"name": name, "sm": "sm_90", "multiprocessors": 132, "memory_bytes": 150109880320,
                       "l2_bytes": 62914560, "max_clock_mhz": 1980, "max_memory_clock_mhz": 3201},
            "driver": "13.0", "driver_version": driver, "cuda": cuda, "commit": "0123456789abcdef0123456789abcdef01234567",
            "date": "2026-11-21T13:22:30Z", "tables": tables, **more}
