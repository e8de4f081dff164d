"""Sealed JSON: an object that carries a checksum of itself, so that an altered file is noticed when it is read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

__all__ = ["Json", "sealed", "unsealed"]

Json = dict[str, Any]
"""A JSON object."""

_HEAD = re.compile(rb'\{\n "sum": "([0-9a-f]{32})",\n')
_MARK = "sealed"


def sealed(data: Mapping[str, object]) -> str:
    """The text of a JSON object whose first entry is the checksum of all bytes behind it.

    Whatever is written beside a checkpoint or into a savepoint as JSON goes through here.

    >>> unsealed(sealed({"at": 6}).encode())
    ({'at': 6}, True)
    """
    body = json.dumps({**data, _MARK: True}, indent=1)[2:]
    return f'{{\n "sum": "{_digest(body.encode())}",\n{body}'


def unsealed(raw: bytes) -> tuple[Json, bool]:
    """The object, and whether a checksum covers it: earlier versions wrote none.

    Raises ValueError, which says what is wrong with the bytes; the caller adds which file it is.

    >>> unsealed(sealed({"at": 6}).encode().replace(b"6", b"4"))
    Traceback (most recent call last):
    ValueError: its checksum does not match
    >>> unsealed(b'{"at": 6}')
    ({'at': 6}, False)
    """
    head = _HEAD.match(raw)
    if head is not None and _digest(raw[head.end() :]) != head.group(1).decode():
        raise ValueError("its checksum does not match")
    data = _parsed(raw)
    if head is None and not {"sum", _MARK}.isdisjoint(data):
        raise ValueError("its checksum does not match")
    data.pop("sum", None)
    data.pop(_MARK, None)
    return data, head is not None


def _parsed(raw: bytes) -> Json:
    try:
        data = json.loads(raw.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not text: byte {error.start} is not UTF-8") from None
    except RecursionError:
        raise ValueError("it is not JSON of Penstock") from None
    if not isinstance(data, dict):
        raise ValueError(f"it holds a JSON {type(data).__name__}, not an object")
    return data


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
