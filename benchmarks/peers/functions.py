"""The user functions of the job ``runtime``: the hand-written loop and the runtime call the very same objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.inputs import Answer, Record, checksum_of, records

FIRST: Callable[[int], int] = lambda value: value + 1  # noqa: E731
KEEP: Callable[[int], bool] = lambda value: value % 3 != 0  # noqa: E731
LAST: Callable[[int], int] = lambda value: value * 2  # noqa: E731


def chain_input(count: int) -> list[int]:
    """What goes into map → filter → map."""
    return list(range(count))


def chain_answer(out: list[int]) -> Answer:
    return Answer(len(out), sum(out))


def counter_input(count: int, keys: int) -> list[Record]:
    """What goes into the keyed counter."""
    return records(0, count, keys)


def counter_answer(out: list[Record]) -> Answer:
    return Answer(len(out), checksum_of(out))


class Counter:
    """Emits how many records of its key it has seen. ``descriptor`` is set by whoever runs it."""

    descriptor: Any = None

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(self.descriptor)

    def process_element(self, value: Record, ctx: Any) -> Iterator[Record]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value[0], count
