"""Files that others read while they are written: readers see the old text or the new, never half of it."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: str | Path, text: str, mode: int | None = None) -> None:
    """Write beside the file, then take its place. Two processes may do so at a time: the later one stays.

    `mode`: who may do what with it, as for `chmod`.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp(), "said.json")
    >>> write_whole(file, "old")
    >>> write_whole(file, "new")
    >>> file.read_text(), len(list(file.parent.iterdir()))
    ('new', 1)
    """
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
    if mode is not None:
        os.chmod(temporary, mode)
    os.replace(temporary, path)
