"""Writers that take many records at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, BinaryIO

__all__ = ["BulkWriterFactory"]


class BulkWriterFactory(ABC):
    """Writes whole batches of records to a file."""

    suffix = ""

    @abstractmethod
    def write(self, file: BinaryIO, values: Sequence[Any], state: Any) -> Any:
        """Write records; what it returns is handed to the next call for the same file."""

    @abstractmethod
    def finish(self, state: Any) -> None:
        """The file is complete."""
