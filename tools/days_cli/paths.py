# SPDX-License-Identifier: MIT
"""Where things are. Nothing depends on the folder that `days` is called from."""
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
RUN_BUILD = BUILD / "run"
VENV = BUILD / "venv"
BUILD_DATA = ROOT / "cmake" / "build.json"
TRACKS = Path(__file__).resolve().parent / "tracks.json"
TEMPLATES = Path(__file__).resolve().parent / "templates"
