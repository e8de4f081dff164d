"""Writers that take many records at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, BinaryIO, Generic

from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_variables import IN

__all__ = ["BulkWriterFactory"]


class BulkWriterFactory(Subscriptable, ABC, Generic[IN]):
    """Writes whole batches of records to a file."""

    suffix = ""

    @abstractmethod
    def write(self, file: BinaryIO, values: Sequence[IN], state: Any) -> Any:
        """Write records; what it returns is handed to the next call for the same file."""

    @abstractmethod
    def finish(self, state: object) -> None:
        """The file is complete."""
