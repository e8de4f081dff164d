"""Writes the pages into docs/guide/reference."""

from pathlib import Path

from scripts.reference.pages import reference

FOLDER = Path(__file__).parents[2] / "docs" / "guide" / "reference"


def main() -> None:
    pages = reference()
    for old in FOLDER.glob("*.md"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
