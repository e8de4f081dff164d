"""Describes state and timers that a harness finds left over, so that a reader finds the line that should clear them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from penstock.core.program.job import ChainedOperator, JobPlan
from penstock.runtime.codec import decode
from penstock.runtime.failures import describe
from penstock.runtime.list_keys import shown
from penstock.runtime.state.page import Page
from penstock.runtime.state.store_keys import BlobKind, StoreKey, parse_key, uid_hash
from penstock.runtime.state.tables import parse_table

__all__ = ["leaks"]

_SHORT = 60
_DOMAINS = ("event-time", "processing-time")


def leaks(plan: JobPlan, blobs: Mapping[bytes, bytes]) -> list[str]:
    """One line for each value and timer that is left, with operator and key; empty if nothing is."""
    operators = {uid_hash(op.uid): op for vertex in plan.vertices for op in vertex.operators}
    found: list[str] = []
    for name, blob in sorted(blobs.items()):
        parsed = parse_key(name)
        where = _operator(operators.get(parsed.uid_hash))
        found.extend(f"{where}: {line}" for line in _of_blob(parsed, blob))
    if blobs and not found:
        owners = [_operator(operators.get(parse_key(name).uid_hash)) for name in sorted(blobs)]
        return [f"{owner}: a directory of pages that are gone" for owner in owners]
    return found


def _operator(op: ChainedOperator | None) -> str:
    return "an operator that is not in the plan" if op is None else f"operator '{op.name}' (uid {op.uid})"


def _of_blob(key: StoreKey, blob: bytes) -> Iterator[str]:
    if key.kind is BlobKind.PAGE:
        yield from _of_page(Page.decode((0, 0, 0), blob, ()))
    elif key.kind is BlobKind.SEGMENT:
        yield f"a part of a long list or map, {len(blob)} bytes"
    elif key.kind is BlobKind.LIST:
        yield f"operator state {key.list_block.name!r}"
    elif key.kind is BlobKind.OPERATOR:
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
    if parse_table(table).windowed and isinstance(stored, dict):
        return [(f" of window {describe(window, _SHORT)}", _value(inner)) for window, inner in stored.items()]
    return [("", _value(stored))]


def _state(table: str) -> str:
    """A table's name as the program says it: `value:seen` holds the value state 'seen'."""
    named = parse_table(table)
    return f"{named.kind or 'internal'} state {named.name!r}"


def _value(stored: object) -> str:
    plain = [decode(item) for item in stored] if isinstance(stored, list) else decode(stored)
    return f" = {describe(plain, _SHORT)}"


def _key(key: object) -> str:
    return describe(shown(key), _SHORT)


def _text(entry: object) -> str:
    return repr(entry)
