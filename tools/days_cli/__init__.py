# SPDX-License-Identifier: MIT
"""What `./days` does: one module a subcommand in commands/, and what they share beside it.

Console, errors, files, processes and the small build system are simt's driver's (simt/driver), which knows nothing of the course:
here they get the course's names, and are modules of days_cli as well."""
import re
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(_ROOT / "simt" / "driver"))

from simt_driver import builder, caller, compiler_messages, console, nvcc_flags, outputs, processes  # noqa: E402

for _module in (builder, compiler_messages, console, nvcc_flags, outputs, processes):
    sys.modules[f"{__name__}.{_module.__name__.rpartition('.')[2]}"] = _module

# The subcommands, each a module of days_cli.commands, in the order of --help.
COMMANDS = (
    "list",
    "run",
    "check",
    "watch",
    "hint",
    "solution",
    "reset",
    "next",
    "test",
    "bench",
    "gpu",
    "profile",
    "report",
    "explain",
    "asm",
    "tune",
    "cc",
    "doctor",
    "new",
)


def _name_the_course():
    """What simt's messages call the command, and where they look."""
    from days_cli import packages, paths
    caller.COMMAND, caller.COMPILER = "./days", "./days cc"
    caller.HELP, caller.DOCTOR = "./days --help", "./days doctor"
    caller.MANUAL = "docs/simt.md"
    caller.OWN_FOLDER = "clone the course into a folder of your own"
    # ./days, its subcommand, and a number or flag after it
    caller.COMMANDS = re.compile(r"\./days(?: (?:" + "|".join(COMMANDS) + r")\b)?(?: (?:\d+|--?\w[\w-]*)\b)*")
    caller.folder = lambda: paths.ROOT
    caller.crash_file = lambda: paths.BUILD / "crash.txt"
    caller.ccache_folder = lambda: paths.BUILD / "ccache"
    caller.install_compiler = lambda: packages.command(["compiler"])


_name_the_course()
