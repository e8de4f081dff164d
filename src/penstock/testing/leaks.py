"""What a harness finds left in state, said so that a reader can find the line that should have cleared it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from penstock.core.job import ChainedOperator, JobPlan
from penstock.runtime.codec import decode
from penstock.runtime.failures import describe
from penstock.runtime.list_keys import shown
from penstock.runtime.state.page import Page
from penstock.runtime.task import store_prefix

__all__ = ["leaks"]

_SHORT = 60
_DOMAINS = ("event-time", "processing-time")


def leaks(plan: JobPlan, blobs: Mapping[bytes, bytes]) -> list[str]:
    """One line for each value and timer that is left, with operator and key; empty if nothing is."""
    operators = {store_prefix(op.uid): op for vertex in plan.vertices for op in vertex.operators}
    found: list[str] = []
    for name, blob in sorted(blobs.items()):
        where = _operator(operators.get(name[:8]))
        found.extend(f"{where}: {line}" for line in _of_blob(name[8:9], name, blob))
    if blobs and not found:
        return [f"{_operator(operators.get(name[:8]))}: a directory of pages that are gone" for name in sorted(blobs)]
    return found


def _operator(op: ChainedOperator | None) -> str:
    return "an operator that is not in the plan" if op is None else f"operator '{op.name}' (uid {op.uid})"


def _of_blob(kind: bytes, name: bytes, blob: bytes) -> Iterator[str]:
    if kind == b"P":
        yield from _of_page(Page.decode((0, 0, 0), blob, ()))
    elif kind == b"S":
        yield f"a part of a long list or map, {len(blob)} bytes"
    elif kind == b"L":
        yield f"operator state {name[18:].decode()!r}"
    elif kind == b"O":
        yield f"state that the operator keeps for itself, {len(blob)} bytes"


def _of_page(page: Page) -> Iterator[str]:
    for table, values in sorted(page.tables.items()):
        for key, stored in sorted(values.items(), key=_text):
            for within, value in _parts(table, stored):
                yield f"key {_key(key)}: {_state(table)}{within}{value}"
    for domain, timers in zip(_DOMAINS, page.timers, strict=True):
        for timestamp, key, namespace in sorted(timers, key=_text):
            window = "" if namespace is None else f" of window {describe(namespace, _SHORT)}"
            yield f"key {_key(key)}: {domain} timer at {timestamp}{window}"


def _parts(table: str, stored: object) -> Iterable[tuple[str, str]]:
    """The value of a state, or one for each window."""
    if table.endswith("@") and isinstance(stored, dict):
        return [(f" of window {describe(window, _SHORT)}", _value(inner)) for window, inner in stored.items()]
    return [("", _value(stored))]


def _state(table: str) -> str:
    """A table's name as the program says it: `value:seen` holds the value state 'seen'."""
    kind, _, name = table.rstrip("@").rpartition(":")
    return f"{kind.removeprefix('ttl-')} state {name!r}" if kind else f"internal state {name!r}"


def _value(stored: Any) -> str:
    plain = [decode(item) for item in stored] if isinstance(stored, list) else decode(stored)
    return f" = {describe(plain, _SHORT)}"


def _key(key: object) -> str:
    return describe(shown(key), _SHORT)


def _text(entry: object) -> str:
    return repr(entry)
