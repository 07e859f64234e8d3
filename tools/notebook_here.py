# SPDX-License-Identifier: MIT
"""What the notebooks' cells call: pictures, the learner's file, and a folder that outlives Colab's machine."""
import os
import shutil
from pathlib import Path

from IPython import get_ipython
from IPython.core.magic import register_cell_magic
from IPython.display import SVG, Image, display

ROOT = Path(__file__).resolve().parent.parent
MY = ROOT / (os.environ.get("DAYS_MY") or "my")  # as ./days has it
DRIVE = Path("/content/drive/MyDrive/days/my")


def picture(path):
    kind = SVG if path.endswith(".svg") else Image
    display(kind(filename=str(ROOT / path)))


def keep_in_drive():
    """On Colab my/ becomes a link to a folder of the learner's Drive, before anything is written: what that has is there again, and what is
    written stays. Elsewhere my/ stays what it is."""
    mine = MY
    try:
        from google.colab import drive
    except ImportError:
        mine.mkdir(exist_ok=True)
        return
    if mine.is_symlink():
        return
    try:
        drive.mount("/content/drive")
        into(mine, DRIVE)
    except Exception as error:  # whoever refuses has a notebook that works all the same
        mine.mkdir(exist_ok=True)
        print(f"Without your Drive ({error}) my/ vanishes with this machine: download what you want to keep.")
        return
    there = sorted(path.name for path in DRIVE.iterdir() if path.is_file())
    print(f"my/ is {DRIVE}, " + (f"with {', '.join(there[:8])} from last time" if there else "still empty"))


def into(mine, folder):
    """mine becomes a link to the folder; files of mine that the folder lacks are moved there first."""
    folder.mkdir(parents=True, exist_ok=True)
    if mine.is_dir():
        for path in sorted(mine.iterdir()):
            if not (folder / path.name).exists():
                shutil.move(str(path), str(folder / path.name))
        shutil.rmtree(mine)
    mine.symlink_to(folder, target_is_directory=True)


def keeps(text, path, skeleton):
    """Whether a file that is there goes before the cell's text: the cell is as it came, and the file is not."""
    return path.exists() and text.strip() == skeleton.strip() and path.read_text(encoding="utf-8").strip() != skeleton.strip()


@register_cell_magic
def exercise(line, cell):
    """%%exercise my/day05.cu: writes the cell to the learner's file, unless that would undo what is there."""
    path = MY / Path(line.strip()).name
    folder = next(ROOT.glob(f"{path.stem[:5]}_*"))
    skeleton = (folder / f"exercise{path.suffix}").read_text(encoding="utf-8")
    if keeps(cell, path, skeleton):
        print(f"{line.strip()} is yours from before and stays; it stands in a new cell below.")
        get_ipython().set_next_input(f"%%exercise {line.strip()}\n" + path.read_text(encoding="utf-8"))
        return
    path.write_text(cell if cell.endswith("\n") else cell + "\n", encoding="utf-8")
    print(f"wrote {line.strip()}")
