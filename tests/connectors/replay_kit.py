"""A log in files: one partition a file, a line `timestamp value` a record, an offset a number of bytes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from penstock.datastream import PythonSource, Timestamped
from penstock.datastream.connectors.base import Lag


def append(folder: Path, partition: str, *records: tuple[int, str]) -> None:
    with (folder / partition).open("a") as file:
        file.write("".join(f"{time} {value}\n" for time, value in records))


class Log(PythonSource):
    bounded = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def partitions(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())

    def _lines(self, partition: str, start: int) -> Iterator[tuple[int, bytes]]:
        with (self.folder / partition).open("rb") as file:
            file.seek(start)
            for line in file:
                start += len(line)
                yield start, line

    def latest_offset(self, partition: str, start: int, limit: int) -> int:
        return max((end for end, _ in islice(self._lines(partition, start), limit)), default=start)

    def end_offset(self, partition: str) -> int:
        return (self.folder / partition).stat().st_size

    def offset_for_timestamp(self, partition: str, timestamp: int) -> int:
        for end, line in self._lines(partition, 0):
            if int(line.split()[0]) >= timestamp:
                return end - len(line)
        return self.end_offset(partition)

    def offset_lag(self, partition: str, offset: int) -> Lag:
        return Lag(sum(1 for _ in self._lines(partition, offset)))

    def read_partition(self, partition: str, start: int, end: int) -> Iterator[Timestamped]:
        for stop, line in self._lines(partition, start):
            if stop > end:
                return
            time, value = line.decode().split()
            yield Timestamped(value, int(time))
