"""Random patterns and streams, small enough for the oracle."""

from collections.abc import Iterator
from random import Random
from typing import Any

from penstock.cep import AfterMatchSkipStrategy, MalformedPatternException, Pattern, WithinType
from penstock.common import Time


class letters:
    """Events that begin with one of some letters."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted

    def __call__(self, value: Any) -> bool:
        return value[0] in self.wanted


def rising(name: str) -> Any:
    """Greater than all events of that name so far."""
    return lambda value, ctx: all(value[1:] > other[1:] for other in ctx.get_events_for_pattern(name))


_RELATIONS = ["next", "followed_by", "followed_by", "followed_by_any", "not_next", "not_followed_by"]
_QUANTIFIERS: list[Any] = [
    ("times", 2),
    ("times", 1, 2),
    ("times", 2, 3),
    ("times", 0, 2),
    ("one_or_more",),
    ("one_or_more",),
    ("times_or_more", 2),
]
_OPTIONS = [None, None, "consecutive", "allow_combinations", "greedy"]


def random_pattern(random: Random) -> Pattern:
    """A pattern that the builder accepts, often with a limit in time."""
    while True:
        try:
            return _attempt(random)
        except MalformedPatternException:
            continue


def _attempt(random: Random) -> Pattern:
    pattern = _sequence(random, 1, iter(range(100)), _skip(random))
    if random.random() < 0.5:
        pattern.within(Time.milliseconds(random.randint(1, 8)))
    if random.random() < 0.2:
        pattern.within(Time.milliseconds(random.randint(1, 4)), WithinType.PREVIOUS_AND_CURRENT)
    pattern.freeze()
    return pattern


def _sequence(random: Random, depth: int, numbers: Iterator[int], skip: Any = None) -> Pattern:
    """Up to three parts; groups are one level deep."""
    pattern: Any = None
    for place in range(random.randint(1, 3 if depth else 2)):
        relation = "begin" if place == 0 else random.choice(_RELATIONS)
        group = depth and not relation.startswith("not") and random.random() < 0.2
        what: Any = _sequence(random, depth - 1, numbers) if group else f"p{next(numbers)}"
        pattern = Pattern.begin(what, skip) if place == 0 else getattr(pattern, relation)(what)
        if not group:
            _condition(random, pattern, what)
        if not relation.startswith("not"):
            _quantifier(random, pattern)
    return pattern  # type: ignore[no-any-return]


def _condition(random: Random, pattern: Pattern, name: str) -> None:
    kind = random.randint(0, 9)
    if kind < 8:
        pattern.where(letters(random.choice(["a", "a", "b", "b", "c", "ab", "bc"])))
    if kind in (7, 8):
        pattern.where(rising(random.choice([name, "p0"])))


def _quantifier(random: Random, pattern: Pattern) -> None:
    if random.random() < 0.5:
        name, *counts = random.choice(_QUANTIFIERS)
        window = [Time.milliseconds(random.randint(1, 4))] if random.random() < 0.1 else []
        getattr(pattern, name)(*counts, *window)
        if option := random.choice(_OPTIONS):
            getattr(pattern, option)()
        if name.endswith("more") and random.random() < 0.3:
            pattern.until(letters(random.choice("abc")))
    if random.random() < 0.25 and not pattern._quantifier.optional:
        pattern.optional()


def _skip(random: Random) -> AfterMatchSkipStrategy:
    name = f"p{random.randint(0, 2)}"
    return random.choice(
        [
            AfterMatchSkipStrategy.no_skip(),
            AfterMatchSkipStrategy.no_skip(),
            AfterMatchSkipStrategy.skip_to_next(),
            AfterMatchSkipStrategy.skip_past_last_event(),
            AfterMatchSkipStrategy.skip_to_first(name),
            AfterMatchSkipStrategy.skip_to_last(name),
        ]
    )


def random_stream(random: Random, most: int = 6) -> list[tuple[str, int]]:
    """Events with timestamps that do not fall: a letter, and digits by which events differ."""
    stamp, found = 0, []
    for place in range(random.randint(1, most)):
        stamp += random.choice([0, 1, 1, 1, 2, 3])
        found.append((random.choice("aabbc") + f"{random.randint(0, 3)}{place}", stamp))
    return found
