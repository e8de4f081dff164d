"""Writes the pages into docs/guide/reference, or into the folder that is named."""

import sys
from pathlib import Path

from scripts.reference.pages import reference

FOLDER = Path(__file__).parents[2] / "docs" / "guide" / "reference"


def main(folder: Path) -> None:
    pages = reference()
    for old in folder.glob("*.md"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
