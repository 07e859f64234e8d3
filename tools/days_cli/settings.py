# SPDX-License-Identifier: MIT
"""cmake/build.json: what CMake and days both need to know to build a day."""
import functools
import json
import os

from days_cli import paths
from days_cli.errors import ENVIRONMENT, DaysError


@functools.lru_cache(maxsize=None)
def load():
    try:
        return json.loads(paths.BUILD_DATA.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DaysError(f"cmake/build.json cannot be read: {error}", "git status", ENVIRONMENT) from error


def warnings_are_errors():
    """DAYS_WERROR in the environment, as CMake reads it: with the same flags, ccache has what the other build compiled."""
    return os.environ.get("DAYS_WERROR", "").upper() in ("1", "ON", "YES", "TRUE", "Y")


def expand(patterns):
    """The files that one or several patterns relative to the root name, as sorted relative paths."""
    patterns = [patterns] if isinstance(patterns, str) else patterns
    return sorted({path.relative_to(paths.ROOT).as_posix() for pattern in patterns for path in paths.ROOT.glob(pattern)})
