"""Collections, number ranges and generators: every split and every cut gives the same records (X1, F11)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.connectors.sequences import (
    CollectionSource,
    DataGeneratorSource,
    NumberSequenceSource,
    RateLimiterStrategy,
)
from penstock.core.contracts.source import Position, Source, SourceClock

NOW = SourceClock(0, 0)


def drain(source: Source, splits: int, steps: list[int]) -> list[Any]:
    found = []
    for split in range(splits):
        position = source.initial(split, splits)
        sizes = iter(steps)
        while not position.ended:
            end = source.advance(split, splits, position, position, next(sizes, 1_000), NOW)
            found += [v for values, _ in source.read(split, splits, position, end) for v in values]
            position = end
    return found


@given(st.integers(1, 5), st.lists(st.integers(1, 20), max_size=8), st.integers(0, 60))
def test_every_cut_gives_every_record_once(splits: int, steps: list[int], count: int) -> None:
    """F11"""
    assert drain(CollectionSource(range(count)), 1, steps) == list(range(count))
    assert sorted(drain(DataGeneratorSource(lambda i: i * i, count), splits, steps)) == [i * i for i in range(count)]
    numbers = NumberSequenceSource(10, 10 + count)
    used = numbers.split_parallelism(splits)
    assert drain(numbers, used, steps) == list(range(10, 11 + count))


def test_a_number_range_has_no_more_splits_than_numbers() -> None:
    assert NumberSequenceSource(1, 2).split_count(8, one_batch=True) == 2


def test_a_generator_without_count_has_no_end() -> None:
    """P10"""
    source = DataGeneratorSource(lambda i: i)
    assert not source.bounded
    assert source.advance(0, 2, Position(5), Position(0), 10, NOW) == Position(15)


def test_a_rate_limit_lets_records_through_as_time_passes() -> None:
    """X1"""
    source = DataGeneratorSource(lambda i: i, None, RateLimiterStrategy.per_second(100))
    ends = [
        source.advance(0, 2, Position(0), Position(0), 10**6, SourceClock(now, 1_000)).at
        for now in (1_000, 1_500, 3_000)
    ]
    assert ends == [0, 25, 100]
    assert RateLimiterStrategy.no_op().records_per_second is None
    with pytest.raises(ValueError, match="A rate must be positive, got 0"):
        RateLimiterStrategy.per_second(0)
