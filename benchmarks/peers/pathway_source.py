"""A table whose rows are made in Python while a Pathway job runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pathway as pw

COMMIT_MS = 500


class Made(pw.io.python.ConnectorSubject):  # type: ignore[misc]
    """Makes the rows, as part of the job."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        super().__init__()
        self.rows = rows

    def run(self) -> None:
        for row in self.rows:
            self.next(**row)


def read(rows: Iterable[dict[str, Any]], schema: Any) -> Any:
    """A table of rows that are made while the job runs."""
    return pw.io.python.read(Made(rows), schema=schema, autocommit_duration_ms=COMMIT_MS)
