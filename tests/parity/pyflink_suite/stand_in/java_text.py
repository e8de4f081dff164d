"""Values as Java writes them: PyFlink's test sink hands results back in that form."""

from __future__ import annotations

import datetime
import decimal
import struct
from typing import Any

from penstock.common import Row

_KINDS = ("+I", "-U", "+U", "-D")


def java_text(value: Any) -> str:
    """What `toString()` gives for the Java object that PyFlink makes of a value.

    >>> java_text(Row("a", None, True)), java_text(("a", 1.5)), java_text({"k": [1]})
    ('+I[a, null, true]', '(a,1.5)', '{k=[1]}')
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Row):
        return f"{_KINDS[value.get_row_kind().value]}[{', '.join(map(java_text, value))}]"
    if isinstance(value, tuple):
        return f"({','.join(map(java_text, value))})"
    if isinstance(value, list):
        return f"[{', '.join(map(java_text, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{java_text(k)}={java_text(v)}' for k, v in value.items())}}}"
    return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, (bytes, bytearray)):
        return f"[{', '.join(str(b - 256 if b > 127 else b) for b in value)}]"
    if isinstance(value, datetime.datetime):
        fraction = f"{value.microsecond:06d}".rstrip("0") or "0"
        return f"{value:%Y-%m-%d %H:%M:%S}.{fraction}"
    if isinstance(value, datetime.time):
        return f"{value:%H:%M:%S}"
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    return str(value)


def _float(value: float) -> str:
    """The shortest text that names the number; a number that fits in single precision may have come from there."""
    if value == struct.unpack("<f", struct.pack("<f", value))[0]:
        for digits in range(1, 10):
            short = float(f"{value:.{digits}g}")
            if struct.pack("<f", short) == struct.pack("<f", value):
                return repr(short)
    return repr(value)
