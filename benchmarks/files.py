"""The large files: what is in them, how they are made, what must come of them. Standard library only.

Line ``index`` holds the index, a key, a value and seventy characters that nobody asks for. The question is the sum of
the values of each key.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from benchmarks.inputs import Answer, checksum_of, record

KEYS = 1_000
CSV, JSON = "csv", "json"
_CHUNK = 20_000


def _text(index: int) -> str:
    return f"{index * 2654435761 % 10**14:014d}" * 5


def csv_line(index: int) -> str:
    key, value = record(index, KEYS)
    return f"{index},{key},{value},{_text(index)}\n"


def json_line(index: int) -> str:
    key, value = record(index, KEYS)
    return f'{{"id": {index}, "key": {key}, "value": {value}, "text": "{_text(index)}"}}\n'


LINES: dict[str, Callable[[int], str]] = {CSV: csv_line, JSON: json_line}


def file_of(kind: str, records: int, folder: Path, header: str = "") -> Path:
    """A file of so many records, after a line with a header if there is one; made if it is not there yet, and kept."""
    path = folder / f"{records}{'-headed' if header else ''}.{kind}"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        with part.open("w", encoding="ascii") as file:
            file.write(header)
            for first in range(0, records, _CHUNK):
                file.writelines(map(LINES[kind], range(first, min(records, first + _CHUNK))))
        part.rename(path)
    return path


def summed(pairs: Iterator[tuple[int, int]]) -> Answer:
    """The plain loop."""
    sums: dict[int, int] = {}
    for key, value in pairs:
        sums[key] = sums.get(key, 0) + value
    return answer_of(sums.items())


def answer_of(sums: Collection[tuple[int, int]]) -> Answer:
    return Answer(len(sums), checksum_of(sums))


def read_csv(path: str) -> Iterator[tuple[int, int]]:
    with open(path, newline="", encoding="ascii") as file:
        for row in csv.reader(file):
            yield int(row[1]), int(row[2])


def read_json(path: str) -> Iterator[tuple[int, int]]:
    with open(path, encoding="ascii") as file:
        for line in file:
            found = json.loads(line)
            yield found["key"], found["value"]


READERS = {CSV: read_csv, JSON: read_json}


def expected(records: int) -> Answer:
    """Without the file."""
    return summed(record(index, KEYS) for index in range(records))
