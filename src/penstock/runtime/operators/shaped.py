"""Declared types, applied where an operator's records leave it (P7)."""

from __future__ import annotations

from functools import partial
from typing import Any

from penstock.core.conform import conform
from penstock.core.job import ChainedOperator
from penstock.core.specs import SourceSpec
from penstock.core.types import TypeInformation
from penstock.runtime.failures import last_taken, user_failure
from penstock.runtime.operators.base import Output, Timestamps

__all__ = ["Shape", "Shaped", "shaped", "source_shape"]

_CHANGING = frozenset({"ROW", "FLOAT"})
"""Rows get their names, floats their 32 bits. Other hints say what the records are anyway, and cost nothing."""


class Shape:
    """The declared type of an operator's records."""

    def __init__(self, desc: ChainedOperator, declared: TypeInformation) -> None:
        self._desc = desc
        self._conform = partial(conform, declared)

    def __call__(self, values: list[Any]) -> list[Any]:
        """The records in the form of their type."""
        rest = iter(values)
        try:
            return list(map(self._conform, rest))
        except Exception as error:
            record = last_taken(values, rest)
            raise user_failure(self._desc.name, self._desc.uid, "The declared type", record, error) from error


class Shaped:
    """Gives records the form of their declared type and passes them on."""

    def __init__(self, shape: Shape, output: Output) -> None:
        self._shape, self._output = shape, output

    def emit(self, values: list[Any], timestamps: Timestamps) -> None:
        self._output.emit(self._shape(values), timestamps)

    def watermark(self, timestamp: int) -> None:
        self._output.watermark(timestamp)

    def status(self, idle: bool) -> None:
        self._output.status(idle)


def shaped(desc: ChainedOperator, tag: str | None, output: Output) -> Output:
    """The output behind the type that was declared for it, if that changes anything."""
    shape = _shape(desc, dict(desc.types).get(tag))
    return output if shape is None else Shaped(shape, output)


def source_shape(desc: ChainedOperator) -> Shape | None:
    """What gives a source's records the type that was declared for them, if that changes anything."""
    assert isinstance(desc.spec, SourceSpec)
    return _shape(desc, desc.spec.declared)


def _shape(desc: ChainedOperator, declared: TypeInformation | None) -> Shape | None:
    return None if declared is None or not _changes(declared) else Shape(desc, declared)


def _changes(declared: TypeInformation) -> bool:
    return declared.name in _CHANGING or any(map(_changes, declared.params))
