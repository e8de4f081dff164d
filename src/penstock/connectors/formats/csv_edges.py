"""Where the records of a CSV file begin and end, found without making rows of them."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from typing import BinaryIO

from penstock.connectors.formats.csv_schema import CsvDialect, CsvSchema
from penstock.connectors.formats.files import last_line_end

__all__ = ["after_head", "last_record_end"]


def after_head(file: BinaryIO, schema: CsvSchema) -> int:
    """The byte behind the rows at the beginning of a file that are not data: the header, a first row to skip."""
    rows = schema.use_header + schema.skip_first_row
    if not rows:
        return 0
    file.seek(0)
    records = _Records(file, 0, float("inf"), schema.dialect)
    if all(records.next() for _ in range(rows)):
        return records.end
    return file.seek(0, os.SEEK_END)  # there is nothing else yet


def last_record_end(path: str, first: int, stop: int, dialect: CsvDialect) -> int:
    """Behind the last complete record in a range of bytes that begins with one; `first` if there is none.

    A record is complete when its line end is there; a line end inside of quotes ends no record.
    """
    if dialect.quote is None and dialect.escape is None:
        return last_line_end(path, first, stop)
    with open(path, "rb") as file:
        file.seek(first)
        records = _Records(file, first, stop, dialect)
        while records.next():
            pass
    return records.end


class _Records:
    """Goes from record to record; `end` is behind the last complete one."""

    def __init__(self, file: BinaryIO, at: int, stop: float, dialect: CsvDialect) -> None:
        self._file, self._at, self._stop, self._comments = file, at, stop, dialect.comments
        self._rows = csv.reader(self._lines(), strict=True, **dialect.python())
        self.end = at

    def next(self) -> bool:
        """Whether there was another complete record."""
        try:
            next(self._rows)
        except StopIteration:
            return False
        except csv.Error as error:
            if "unexpected end of data" in str(error):  # quotes are still open
                return False
            # a record that the reader of the rows will refuse, by its place
        self.end = self._at
        return True

    def _lines(self) -> Iterator[str]:
        """Complete lines, without comments. Bytes that are not UTF-8 are for the reader of the rows to refuse."""
        while (line := self._file.readline()).endswith(b"\n") and self._at + len(line) <= self._stop:
            begins = self.end == self._at
            self._at += len(line)
            if begins and self._comments and line.startswith(b"#"):
                self.end = self._at
            else:
                yield line.decode(errors="surrogateescape")
