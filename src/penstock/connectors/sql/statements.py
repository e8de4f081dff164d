"""Statements with `?` for their parameters, as JDBC writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["count_parameters", "is_idempotent", "with_marks"]

_TOKEN = re.compile(
    r"'(?:[^']|'')*'"  # a string
    r'|"(?:[^"]|"")*"|`[^`]*`'  # a quoted name
    r"|--[^\n]*|/\*.*?\*/"  # comments
    r"|\$(\w*)\$.*?\$\1\$"  # PostgreSQL's other strings
    r"|\?",
    re.DOTALL,
)


def _marks(sql: str) -> Iterator[int]:
    """Where the parameters are: a question mark inside a string, a name or a comment is none."""
    return (match.start() for match in _TOKEN.finditer(sql) if match.group() == "?")


def count_parameters(sql: str) -> int:
    """How many parameters a statement has.

    >>> count_parameters("insert into t values (?, '?', ?) -- why?")
    2
    """
    return sum(1 for _ in _marks(sql))


def with_marks(sql: str, mark: str) -> str:
    """The statement for a driver that writes parameters as `%s`, to which a percent sign must be doubled.

    >>> with_marks("update t set a = ? where b like '5%'", "%s")
    "update t set a = %s where b like '5%%'"
    >>> with_marks("delete from t where a = ?", "?")
    'delete from t where a = ?'
    """
    if mark == "?":
        return sql
    places, parts, last = list(_marks(sql)), [], 0
    for place in places:
        parts.append(sql[last:place].replace("%", "%%"))
        last = place + 1
    return mark.join([*parts, sql[last:].replace("%", "%%")])


# -- upserts ---------------------------------------------------------------------------------------------

_NAME = r'(?:"[^"]+"|`[^`]+`|[\w.]+)'
_VALUE = r"(?:\?|'(?:[^']|'')*'|-?\d+(?:\.\d+)?|null)"
_COLUMNS = rf"(?:\(\s*{_NAME}(?:\s*,\s*{_NAME})*\s*\)\s*)?"
_VALUES = rf"{_NAME}\s*{_COLUMNS}values\s*\(\s*{_VALUE}(?:\s*,\s*{_VALUE})*\s*\)"
_EXCLUDED = rf"({_NAME})\s*=\s*(?:excluded\s*\.\s*({_NAME})|values\s*\(\s*({_NAME})\s*\))"
_SET = rf"{_NAME}\s*=\s*{_VALUE}"
_WHERE = rf"where\s+{_SET}(?:\s+and\s+{_SET})*"
_REPEATABLE = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"(?:replace\s+into|insert\s+ignore\s+into|insert\s+or\s+(?:replace|ignore)\s+into)\s+{_VALUES}",
        rf"insert\s+into\s+{_VALUES}\s*on\s+conflict\s*(?:\([^)]*\)\s*)?do\s+nothing",
        rf"delete\s+from\s+{_NAME}\s+{_WHERE}",
        rf"update\s+{_NAME}\s+set\s+{_SET}(?:\s*,\s*{_SET})*\s+{_WHERE}",
    )
)
_UPSERT = re.compile(
    rf"insert\s+into\s+{_VALUES}\s*on\s+(?:conflict\s*\([^)]*\)\s*do\s+update\s+set|duplicate\s+key\s+update)\s+(.*)",
    re.IGNORECASE | re.DOTALL,
)


def is_idempotent(sql: str) -> bool:
    """Whether running the same records through a statement again leaves the table as it is, as far as its text tells.

    >>> is_idempotent("insert into t (k, n) values (?, ?) on conflict (k) do update set n = excluded.n")
    True
    >>> is_idempotent("insert into t (k, n) values (?, ?) on conflict (k) do update set n = t.n + excluded.n")
    False
    >>> is_idempotent("insert into t values (?, ?)")
    False
    """
    text = sql.strip().rstrip(";").rstrip()
    upsert = _UPSERT.fullmatch(text)
    if upsert is not None:
        return all(map(_takes_the_new_value, upsert.group(1).split(",")))
    return any(pattern.fullmatch(text) for pattern in _REPEATABLE)


def _takes_the_new_value(assignment: str) -> bool:
    match = re.fullmatch(_EXCLUDED, assignment.strip(), re.IGNORECASE)
    return match is not None and match.group(1).lower() == (match.group(2) or match.group(3)).lower()
