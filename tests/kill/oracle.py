"""What an uninterrupted run gives, in plain Python, and what any run must agree with."""

from __future__ import annotations

from collections import Counter

from tests.kill.job import GROUPS, KEYS, JobOptions, payload_of, record, timestamp, window_of
from tests.kill.patterns import Seen, expected, open_at
from tests.kill.sinks import file_records, sql_records

__all__ = ["check", "partial_matches"]

Records = Counter[tuple[int, ...]]


def check(options: JobOptions) -> list[str]:
    """Everything that is wrong with the output; empty if nothing is."""
    numbered, windows = file_records(options.numbered), file_records(options.windows)
    wrong = _sequences(options, numbered)
    wrong += _matches(options, numbered, windows) if options.patterns else _agreement(numbered, windows)
    if options.deterministic and not wrong:
        expected: Records = Counter((*record(i), payload_of(i)) for i in range(options.records))
        wrong += _difference("numbered", expected, Counter((k, v, p) for k, _, v, p in numbered))
    for database, url in options.databases.items():
        for name, expected in (("numbered", Counter(numbered)), ("windows", Counter(windows))):
            wrong += _difference(f"{name} in {database}", expected, Counter(sql_records(url, name)))
    return wrong


def _sequences(options: JobOptions, numbered: list[tuple[int, ...]]) -> list[str]:
    """Per key: the numbers 1, 2, 3… without gap or duplicate, and every value once."""
    wrong = _difference(
        "values", Counter(record(i) for i in range(options.records)), Counter((k, v) for k, _, v, _ in numbered)
    )
    by_key: dict[int, list[int]] = {}
    for key, number, _, _ in numbered:
        by_key.setdefault(key, []).append(number)
    for key, numbers in sorted(by_key.items()):
        if sorted(numbers) != list(range(1, len(numbers) + 1)):
            wrong.append(f"key {key}: numbers {_odd(numbers)} are missing or double among {len(numbers)}")
    return wrong


def _odd(numbers: list[int]) -> list[int]:
    counts = Counter(numbers)
    return [n for n in range(1, max(numbers) + 1) if counts[n] != 1][:10]


def _agreement(numbered: list[tuple[int, ...]], windows: list[tuple[int, ...]]) -> list[str]:
    """The second stage's state saw exactly the records that the first stage's sink published."""
    sums: dict[tuple[int, int], tuple[int, int]] = {}
    for key, _, value, payload in numbered:
        place = (key % GROUPS, window_of(value))
        count, total = sums.get(place, (0, 0))
        sums[place] = (count + 1, total + payload)
    expected: Records = Counter((*place, *found) for place, found in sums.items())
    return _difference("windows", expected, Counter(windows))


def _matches(options: JobOptions, numbered: list[tuple[int, ...]], matches: list[tuple[int, ...]]) -> list[str]:
    """The pattern saw exactly the records that the first stage's sink published."""
    found = Counter(matches) + Counter(file_records(options.out_of_time))
    return _difference("matches", expected(_groups(numbered)), found)


def _groups(numbered: list[tuple[int, ...]]) -> dict[int, list[Seen]]:
    groups: dict[int, list[Seen]] = {}
    for key, _, value, payload in numbered:
        groups.setdefault(key % GROUPS, []).append((value, payload, timestamp(value)))
    return groups


def partial_matches(options: JobOptions, records: int) -> int:
    """How many matches are under way when so many records have been taken; of the deterministic job."""
    numbered = [(i % KEYS, 0, i, payload_of(i)) for i in range(options.records)]
    return open_at(_groups(numbered), timestamp(records))


def _difference(what: str, expected: Records, found: Records) -> list[str]:
    missing, extra = expected - found, found - expected
    if not missing and not extra:
        return []
    return [
        f"{what}: {missing.total()} missing ({list(missing)[:3]}), {extra.total()} too many ({list(extra)[:3]}), "
        f"of {expected.total()}"
    ]
