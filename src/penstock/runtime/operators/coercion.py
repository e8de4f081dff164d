"""Type coercion: gives records their declared form where they leave an operator."""

from __future__ import annotations

from functools import partial

from penstock.core.program.job import ChainedOperator
from penstock.core.program.specs import SourceSpec
from penstock.core.types.coercion import coerce
from penstock.core.types.type_info import TypeInformation
from penstock.runtime.failures import last_taken, user_failure
from penstock.runtime.operators.base import Output
from penstock.runtime.values import Records, Timestamps

__all__ = ["CoercedOutput", "Coercion", "coerced_output", "source_coercion"]

_CHANGING = frozenset({"ROW", "FLOAT"})
"""Rows get their names, floats their 32 bits. Other hints say what the records are anyway, and cost nothing."""


class Coercion:
    """Gives an operator's records the form of their declared type."""

    def __init__(self, desc: ChainedOperator, declared: TypeInformation) -> None:
        self._desc = desc
        self._coerce = partial(coerce, declared)

    def __call__(self, values: Records) -> Records:
        """The records in the form of their type."""
        rest = iter(values)
        try:
            return list(map(self._coerce, rest))
        except Exception as error:
            record = last_taken(values, rest)
            raise user_failure(self._desc.name, self._desc.uid, "The declared type", record, error) from error


class CoercedOutput:
    """Gives records the form of their declared type and passes them on."""

    def __init__(self, coercion: Coercion, output: Output) -> None:
        self._coercion, self._output = coercion, output

    def emit(self, values: Records, timestamps: Timestamps) -> None:
        """Coerce records and pass them on."""
        self._output.emit(self._coercion(values), timestamps)

    def watermark(self, timestamp: int) -> None:
        """Pass a watermark on."""
        self._output.watermark(timestamp)

    def status(self, idle: bool) -> None:
        """Pass idleness on."""
        self._output.status(idle)


def coerced_output(desc: ChainedOperator, tag: str | None, output: Output) -> Output:
    """The output, behind a coercion to its declared type if that changes anything."""
    coercion = _coercion(desc, dict(desc.types).get(tag))
    return output if coercion is None else CoercedOutput(coercion, output)


def source_coercion(desc: ChainedOperator) -> Coercion | None:
    """The coercion of a source's records to their declared type; None if it changes nothing."""
    assert isinstance(desc.spec, SourceSpec)
    return _coercion(desc, desc.spec.declared)


def _coercion(desc: ChainedOperator, declared: TypeInformation | None) -> Coercion | None:
    return None if declared is None or not _changes(declared) else Coercion(desc, declared)


def _changes(declared: TypeInformation) -> bool:
    return declared.name in _CHANGING or any(map(_changes, declared.params))
