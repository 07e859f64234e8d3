# SPDX-License-Identifier: MIT
"""What messages call the command that runs, and where it keeps things. Another command that is built on these modules, as the
course's ./days is, says its own here, once, before anything else."""
import os
import re
import tempfile

COMMAND = "simtcc"  # as the user typed it
COMPILER = "simtcc"  # the same, where it is nvcc's command line that is read
HELP = "simtcc --help"
MANUAL = "simt's README.md"
DOCTOR = "simtcc --version"  # what to try where this machine lacks something
OWN_FOLDER = "set TMPDIR to a folder of your own"  # where a build folder cannot be written
COMMANDS = re.compile(r"\bsimtcc(?: --\w[\w-]*)*")  # what a terminal shows in colour


def folder():
    """Where commands run and relative paths start that say nothing else."""
    return os.getcwd()


def crash_file():
    """Where the trace of a fault of our own goes."""
    return os.path.join(tempfile.gettempdir(), f"simtcc-crash-{os.getpid()}.txt")


def install_compiler():
    """The line that a person types to get a C++ compiler."""
    return "apt-get install g++   (11 or later; or clang, 14 or later)"


def ccache_folder():
    """Where ccache may keep its files if it has no place of its own."""
    return os.path.join(tempfile.gettempdir(), f"simt-ccache-{os.getuid()}")
