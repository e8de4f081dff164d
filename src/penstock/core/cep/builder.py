"""`Pattern`: what users write patterns with. Illegal ones are refused by FlinkCEP's rules as they are built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, Self

from penstock.core.cep import draw
from penstock.core.cep.automaton import compile_pattern
from penstock.core.cep.conditions import IterativeCondition, both, condition, either, of_type
from penstock.core.cep.errors import MalformedPatternException
from penstock.core.cep.patterns import Contiguity, NotStep, PatternSpec, Quantifier, Step, WithinType
from penstock.core.cep.skip import AfterMatchSkipStrategy
from penstock.core.cep.validate import check_pattern
from penstock.core.time.spans import Duration, Span, Time, duration_of, is_span

__all__ = ["GroupPattern", "Pattern"]

_Condition = IterativeCondition | Callable[..., bool]
_NOTS = ("not_next", "not_followed_by")
_CONTIGUITY = {"next": Contiguity.STRICT, "followed_by": Contiguity.RELAXED, "followed_by_any": Contiguity.ANY}


class Pattern:
    """A sequence of named patterns; each method adds to the last of them and returns the sequence so far.

    >>> pattern = Pattern.begin("low").where(lambda v: v < 3).next("high").where(lambda v: v > 7).times(2)
    >>> print(pattern.explain())
    start ─▶ low
    low ─(next)▶ high
    high ─(again, followed by)▶ high#2
    high#2 ─▶ match
    """

    def __init__(self, name: str, relation: str, previous: Pattern | None, skip: AfterMatchSkipStrategy | None) -> None:
        self._name, self._relation, self._previous = name, relation, previous
        self._skip: AfterMatchSkipStrategy | None = skip if previous is None else previous._skip
        self._condition: IterativeCondition | None = None
        self._until: IterativeCondition | None = None
        self._quantifier = Quantifier()
        self._repeats = self._inner_said = False
        self._within: dict[WithinType, int] = {}
        _check_name(name)

    # -- the sequence -------------------------------------------------------------------------------

    @staticmethod
    def begin(name: str | Pattern, after_match_skip_strategy: AfterMatchSkipStrategy | None = None) -> Pattern:
        """The first pattern of a sequence: a name, or a sequence that is to be a group."""
        skip = after_match_skip_strategy
        if skip is not None and not isinstance(skip, AfterMatchSkipStrategy):
            raise TypeError(f"begin() takes an AfterMatchSkipStrategy, got {type(skip).__name__}")
        return _pattern(name, "begin", None, skip)

    def next(self, name: str | Pattern) -> Pattern:
        """Directly after the event before, with none in between."""
        return _pattern(name, "next", self, None)

    def followed_by(self, name: str | Pattern) -> Pattern:
        """Some time after; events that do not match are passed over, one that does is taken."""
        return _pattern(name, "followed_by", self, None)

    def followed_by_any(self, name: str | Pattern) -> Pattern:
        """Some time after; events that match may be passed over as well, so there may be several matches."""
        return _pattern(name, "followed_by_any", self, None)

    def not_next(self, name: str) -> Pattern:
        """The event directly after must not match."""
        return self._not(name, "not_next")

    def not_followed_by(self, name: str) -> Pattern:
        """No event that matches may be passed over before the next is taken; at the end, before `within` is over."""
        return self._not(name, "not_followed_by")

    def _not(self, name: str, relation: str) -> Pattern:
        if isinstance(name, Pattern):
            raise self._refused(f"{relation}() takes a name, not a group")
        if self._relation not in _NOTS and _step(self).nullable:
            raise self._refused(
                f"{relation}({name!r}) cannot come after it, since it may take no event at all; "
                "write two patterns, one with and one without it"
            )
        return Pattern(name, relation, self, None)

    # -- conditions ---------------------------------------------------------------------------------

    def where(self, condition_: _Condition) -> Self:
        """The event must satisfy this too. A function of the event, or of the event and a context, will do."""
        self._condition = both(self._condition, condition(condition_, "where()"))
        return self

    def or_where(self, condition_: _Condition) -> Self:
        """The event may satisfy this instead."""
        self._condition = either(self._condition, condition(condition_, "or_where()"))
        return self

    def subtype(self, subtype_class: type) -> Self:
        """The event must be an instance of a class too."""
        self._condition = both(self._condition, of_type(subtype_class))
        return self

    def until(self, until_condition: _Condition) -> Self:
        """No more repetitions once an event satisfies this."""
        if self._until is not None:
            raise self._refused("it has an until() already: only one can be applied")
        if self._quantifier.most is not None:
            raise self._refused("until() is for one_or_more() and times_or_more() only: call one of them first")
        self._until = condition(until_condition, "until()")
        return self

    # -- how often ----------------------------------------------------------------------------------

    def optional(self) -> Self:
        """It may be missing."""
        self._refuse_not("optional()")
        if self._quantifier.optional:
            raise self._refused("it is optional already")
        self._quantifier = replace(self._quantifier, optional=True)
        return self

    def one_or_more(self, window_time: Span | None = None) -> Self:
        """At least once; `window_time` limits the time between two repetitions."""
        return self._repeat("one_or_more()", 1, None, window_time)

    def times_or_more(self, times: int, window_time: Span | None = None) -> Self:
        """At least so many times."""
        return self._repeat("times_or_more()", _count("times_or_more()", times, 1), None, window_time)

    def times(
        self,
        from_times: int,
        to_times: int | Span | None = None,
        window_time: Span | None = None,
    ) -> Self:
        """So many times, or with a second number from so many to so many; from 0 makes it optional."""
        if isinstance(to_times, Time | Duration | timedelta):
            to_times, window_time = None, to_times
        if to_times is None:
            count = _count("times()", from_times, 1)
            return self._repeat("times()", count, count, window_time)
        least, most = _count("times()", from_times, 0), _count("times()", to_times, max(1, from_times))
        self._repeat("times()", max(1, least), most, window_time)
        self._quantifier = replace(self._quantifier, optional=self._quantifier.optional or least == 0)
        return self

    def _repeat(self, what: str, least: int, most: int | None, window: Span | None) -> Self:
        self._refuse_not(what)
        if self._repeats:
            raise self._refused(f"{what}: it is said already how often it is to be taken")
        self._repeats = True
        gap_ms = None if window is None else _span(window, what)
        self._quantifier = replace(self._quantifier, least=least, most=most, gap_ms=gap_ms)
        return self

    def greedy(self) -> Self:
        """As often as possible: what comes after may not be reached past an event that could have been taken."""
        self._refuse_not("greedy()")
        self._needs_repeats("greedy()")
        if self._quantifier.inner is Contiguity.ANY or self._relation == "followed_by_any":
            raise self._refused("greedy() does not go with followed_by_any() or allow_combinations()")
        self._quantifier = replace(self._quantifier, greedy=True)
        return self

    def consecutive(self) -> Self:
        """Repetitions follow each other directly."""
        return self._inner("consecutive()", Contiguity.STRICT)

    def allow_combinations(self) -> Self:
        """Between repetitions events that match may be passed over as well."""
        if self._quantifier.greedy:
            raise self._refused("allow_combinations() does not go with greedy()")
        return self._inner("allow_combinations()", Contiguity.ANY)

    def _inner(self, what: str, inner: Contiguity) -> Self:
        self._refuse_not(what)
        self._needs_repeats(what)
        if self._inner_said:
            raise self._refused(f"{what}: either consecutive() or allow_combinations(), and once only")
        self._inner_said = True
        self._quantifier = replace(self._quantifier, inner=inner)
        return self

    def _needs_repeats(self, what: str) -> None:
        if not self._repeats:
            raise self._refused(f"{what} is for repeated patterns: call times() or one_or_more() first")

    # -- time ---------------------------------------------------------------------------------------

    def within(self, window_time: Span, within_type: WithinType = WithinType.FIRST_AND_LAST) -> Self:
        """How much time there is, from the first event to the last, or from the one before to those of this pattern.

        The smallest limit of a sequence from first to last counts. The later event must come before the time is over.
        """
        if not isinstance(within_type, WithinType):
            raise TypeError(f"within() takes a WithinType, got {within_type!r}")
        self._within[within_type] = _span(window_time, "within()")
        return self

    # -- looking at it ------------------------------------------------------------------------------

    def get_name(self) -> str:
        """The name of this stage, by which matches list its events."""
        return self._name

    def get_previous(self) -> Pattern | None:
        """The stage before this one; None for the first."""
        return self._previous

    def get_after_match_skip_strategy(self) -> AfterMatchSkipStrategy:
        """What happens to partial matches after a match was found."""
        return self._skip or AfterMatchSkipStrategy.no_skip()

    def freeze(self) -> PatternSpec:
        """The whole sequence, checked; what the matcher is built from."""
        limits = [p._within[WithinType.FIRST_AND_LAST] for p in _every(self) if WithinType.FIRST_AND_LAST in p._within]
        spec = PatternSpec(_steps(self), min(limits, default=None), self.get_after_match_skip_strategy())
        check_pattern(spec)
        return spec

    def explain(self) -> str:
        """States and transitions, a line each, and the time that a whole match may take."""
        spec = self.freeze()
        return draw.as_text(compile_pattern(spec), spec.within_ms)

    def draw(self) -> str:
        """States and transitions as an SVG picture."""
        spec = self.freeze()
        return draw.as_svg(compile_pattern(spec), spec.within_ms)

    def _refuse_not(self, what: str) -> None:
        if self._relation in _NOTS:
            raise self._refused(f"{what} does not go with {self._relation}()")

    def _refused(self, why: str) -> MalformedPatternException:
        return MalformedPatternException(f"Pattern '{self._name}': {why}")


class GroupPattern(Pattern):
    """A sequence of patterns as one: it can be repeated and optional, but has no condition of its own."""

    def __init__(self, group: Pattern, relation: str, previous: Pattern | None, skip: AfterMatchSkipStrategy | None):
        super().__init__(f"({' '.join(p._name for p in _sequence(group))})", relation, previous, skip)
        if group._skip is not None:
            raise self._refused("a group has no skip strategy of its own: give it to the begin() of the whole pattern")
        self._group = group

    def where(self, condition_: _Condition) -> Self:
        """Refused: conditions belong to the members of a group."""
        raise self._refused("a group has no where(): give conditions to its members")

    def or_where(self, condition_: _Condition) -> Self:
        """Refused: conditions belong to the members of a group."""
        raise self._refused("a group has no or_where(): give conditions to its members")

    def subtype(self, subtype_class: type) -> Self:
        """Refused: a type belongs to the members of a group."""
        raise self._refused("a group has no subtype(): give it to its members")

    def greedy(self) -> Self:
        """Refused: a group cannot be greedy."""
        raise self._refused("greedy() does not go with a group")


def _pattern(name: Any, relation: str, previous: Pattern | None, skip: AfterMatchSkipStrategy | None) -> Pattern:
    if isinstance(name, Pattern):
        return GroupPattern(name, relation, previous, skip)
    return Pattern(name, relation, previous, skip)


def _sequence(last: Pattern) -> list[Pattern]:
    """The patterns of a sequence, from first to last."""
    found: list[Pattern] = []
    pattern: Pattern | None = last
    while pattern is not None:
        found.append(pattern)
        pattern = pattern._previous
    return found[::-1]


def _every(last: Pattern) -> list[Pattern]:
    """The patterns of a sequence and of the groups in it."""
    inner = [q for p in _sequence(last) if isinstance(p, GroupPattern) for q in _every(p._group)]
    return _sequence(last) + inner


def _steps(last: Pattern) -> tuple[Step | NotStep, ...]:
    return tuple(_not_step(p) if p._relation in _NOTS else _step(p) for p in _sequence(last))


def _step(pattern: Pattern) -> Step:
    return Step(
        pattern._name,
        _CONTIGUITY.get(pattern._relation),
        pattern._condition,
        pattern._quantifier,
        pattern._until,
        pattern._within.get(WithinType.PREVIOUS_AND_CURRENT),
        _steps(pattern._group) if isinstance(pattern, GroupPattern) else (),
    )


def _not_step(pattern: Pattern) -> NotStep:
    gap_ms = pattern._within.get(WithinType.PREVIOUS_AND_CURRENT)
    return NotStep(pattern._name, pattern._relation == "not_next", pattern._condition, gap_ms)


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name:
        raise TypeError(f"a pattern takes a name or a Pattern, got {name!r}")


def _count(what: str, times: Any, least: int) -> int:
    if not isinstance(times, int) or isinstance(times, bool) or times < least:
        raise MalformedPatternException(f"{what} takes a whole number of at least {least}, got {times!r}")
    return times


def _span(span: Any, what: str) -> int:
    if not is_span(span):
        raise TypeError(f"{what} takes a Time, a Duration or a timedelta, got {span!r}")
    span_ms = duration_of(span).to_milliseconds()
    if span_ms <= 0:
        raise MalformedPatternException(f"{what} takes a time longer than none, got {span}")
    return span_ms
