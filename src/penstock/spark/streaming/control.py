"""How the driver tells the planner of the sources, a process beside it, what the next batch may be."""

from __future__ import annotations

import json
import os
from typing import Any

from penstock.core.whole_files import write_whole

__all__ = ["ControlFile"]


class ControlFile:
    """How the driver speaks to the intake's planner, another process on the same machine."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: tuple[int, int] | None = None
        self._data: dict[str, Any] = {}

    def write(self, **data: Any) -> None:
        """Replace what is said."""
        write_whole(self._path, json.dumps(data))

    def read(self) -> dict[str, Any]:
        try:
            stat = os.stat(self._path)
        except FileNotFoundError:
            return self._data
        if (stat.st_mtime_ns, stat.st_ino) != self._seen:
            self._seen = (stat.st_mtime_ns, stat.st_ino)
            with open(self._path, encoding="utf-8") as file:
                self._data = json.load(file)
        return self._data
