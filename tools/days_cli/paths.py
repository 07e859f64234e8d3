# SPDX-License-Identifier: MIT
"""Where things are. Nothing depends on the folder that `days` is called from."""
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
RUN_BUILD = BUILD / "run"
VENV = BUILD / "venv"
BUILD_DATA = ROOT / "cmake" / "build.json"
TRACKS = Path(__file__).resolve().parent / "tracks.json"
MY = ROOT / (os.environ.get("DAYS_MY") or "my")  # the learner's files; git ignores it
TEMPLATES = Path(__file__).resolve().parent / "templates"


def commit():
    """The commit that is checked out, "+" behind it where files differ from it; "" where git cannot say."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*"],
                              text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
