"""What a job writes into its checkpoint, seen from outside. Spark removes nothing there for a hundred batches."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any


class BytesWritten:
    """The bytes of the files that came, or changed, since `mark`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._before: dict[str, tuple[int, int]] = {}

    def mark(self) -> None:
        """Count from here."""
        self._before = self._files()

    def watch(self, client: Any, batches: int) -> None:
        """Wait until a Penstock job has so many batches behind it (or has ended), then count."""
        while client.batches < batches and client.status.name in ("RUNNING", "RESTARTING"):
            time.sleep(0.02)
        self.mark()

    def since(self) -> int:
        return sum(size for name, (size, changed) in self._files().items() if self._before.get(name) != (size, changed))

    def _files(self) -> dict[str, tuple[int, int]]:
        found = {}
        for folder, _, names in os.walk(self._folder):
            for name in names:
                try:
                    stat = os.stat(os.path.join(folder, name))
                except FileNotFoundError:
                    continue
                found[os.path.join(folder, name)] = (stat.st_size, stat.st_mtime_ns)
        return found
