"""Declared types, applied where an operator's records leave it."""

from __future__ import annotations

from typing import Any

from penstock.core.job import ChainedOperator
from penstock.core.shape import Shape, shape_of
from penstock.runtime.failures import last_taken, user_failure
from penstock.runtime.operators.base import Output, Timestamps

__all__ = ["Shaped", "shaped"]


class Shaped:
    """Gives records their declared type and passes them on."""

    def __init__(self, desc: ChainedOperator, shape: Shape, output: Output) -> None:
        self._desc = desc
        self._shape = shape
        self._output = output

    def emit(self, values: list[Any], timestamps: Timestamps) -> None:
        self._output.emit(self._shaped(values), timestamps)

    def _shaped(self, values: list[Any]) -> list[Any]:
        rest = iter(values)
        try:
            return list(map(self._shape, rest))
        except Exception as error:
            record = last_taken(values, rest)
            raise user_failure(self._desc.name, self._desc.uid, "The declared type", record, error) from error

    def watermark(self, timestamp: int) -> None:
        self._output.watermark(timestamp)

    def status(self, idle: bool) -> None:
        self._output.status(idle)


def shaped(desc: ChainedOperator, tag: str | None, output: Output) -> Output:
    """The output behind the type that was declared for it, if that changes anything."""
    shape = shape_of(dict(desc.types).get(tag))
    return output if shape is None else Shaped(desc, shape, output)
