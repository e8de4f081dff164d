"""Patterns that cannot be, refused when they are built, with a word on what to do."""

from collections.abc import Callable
from typing import Any

import pytest

from penstock.cep import (
    CEP,
    AfterMatchSkipStrategy,
    MalformedPatternException,
    Pattern,
    PatternProcessFunction,
    WithinType,
)
from penstock.common import Duration, Time
from penstock.common.errors import ProgramError
from penstock.datastream import MapFunction, OutputTag, StreamExecutionEnvironment


def any_event(value: Any) -> bool:
    return True


def a() -> Pattern:
    return Pattern.begin("a")


def group() -> Pattern:
    return Pattern.begin("x").next("y")


SECOND = Time.seconds(1)
BETWEEN = WithinType.PREVIOUS_AND_CURRENT

MALFORMED: list[tuple[Callable[[], Any], str]] = [
    # while it is written
    (lambda: a().optional().not_next("n"), "'a': not_next('n') cannot come after it, since it may take no event"),
    (lambda: a().optional().not_followed_by("n"), "write two patterns, one with and one without it"),
    (lambda: a().times(0, 2).not_followed_by("n"), "'a': not_followed_by('n') cannot come after it"),
    (lambda: a().not_next("n").optional(), "Pattern 'n': optional() does not go with not_next()"),
    (lambda: a().not_followed_by("n").one_or_more(), "Pattern 'n': one_or_more() does not go with not_followed_by()"),
    (lambda: a().not_next("n").times(2), "times() does not go with not_next()"),
    (lambda: a().not_next("n").greedy(), "greedy() does not go with not_next()"),
    (lambda: a().not_next("n").consecutive(), "consecutive() does not go with not_next()"),
    (lambda: a().optional().optional(), "'a': it is optional already"),
    (lambda: a().times(2).one_or_more(), "one_or_more(): it is said already how often"),
    (lambda: a().one_or_more().times(2), "times(): it is said already how often"),
    (lambda: a().consecutive(), "consecutive() is for repeated patterns: call times() or one_or_more() first"),
    (lambda: a().allow_combinations(), "allow_combinations() is for repeated patterns"),
    (lambda: a().greedy(), "greedy() is for repeated patterns"),
    (lambda: a().times(2).consecutive().allow_combinations(), "either consecutive() or allow_combinations()"),
    (lambda: a().times(2).consecutive().consecutive(), "and once only"),
    (lambda: a().one_or_more().allow_combinations().greedy(), "greedy() does not go with followed_by_any() or allow"),
    (lambda: a().followed_by_any("b").one_or_more().greedy(), "'b': greedy() does not go with followed_by_any()"),
    (lambda: a().one_or_more().greedy().allow_combinations(), "allow_combinations() does not go with greedy()"),
    (lambda: a().until(any_event), "until() is for one_or_more() and times_or_more() only"),
    (lambda: a().times(2).until(any_event), "until() is for one_or_more() and times_or_more() only"),
    (lambda: a().one_or_more().until(any_event).until(any_event), "it has an until() already: only one can be applied"),
    (lambda: a().times(0), "times() takes a whole number of at least 1, got 0"),
    (lambda: a().times(3, 2), "times() takes a whole number of at least 3, got 2"),
    (lambda: a().times_or_more(0), "times_or_more() takes a whole number of at least 1, got 0"),
    (lambda: a().within(Time.seconds(0)), "within() takes a time longer than none, got 0 ms"),
    (lambda: Pattern.begin(group()).where(bool), "'(x y)': a group has no where(): give conditions to its members"),
    (lambda: Pattern.begin(group()).or_where(bool), "a group has no or_where()"),
    (lambda: Pattern.begin(group()).subtype(int), "a group has no subtype()"),
    (lambda: Pattern.begin(group()).one_or_more().greedy(), "greedy() does not go with a group"),
    (lambda: a().not_next(group()), "'a': not_next() takes a name, not a group"),  # type: ignore[arg-type]
    (
        lambda: a().next(Pattern.begin("b", AfterMatchSkipStrategy.skip_to_next())),
        "'(b)': a group has no skip strategy of its own: give it to the begin() of the whole pattern",
    ),
    # when it is whole
    (lambda: a().next("a").freeze(), "Duplicate pattern name: a. Names must be unique"),
    (lambda: a().next(Pattern.begin("b").next("a")).freeze(), "Duplicate pattern name: a"),
    (lambda: a().not_followed_by("a").next("b").freeze(), "Duplicate pattern name: a"),
    (lambda: a().not_followed_by("n").freeze(), "'n': not_followed_by() as the last part of a pattern needs within()"),
    (
        lambda: a().not_followed_by("n").next("b").optional().freeze(),
        "'n': not_followed_by() as the last part",
    ),
    (lambda: Pattern.begin(a().optional()).one_or_more().freeze(), "a repeated group must take at least one event"),
    (lambda: Pattern.begin(a().not_next("n")).next("b").freeze(), "a group cannot end with a not-pattern: put 'n' be"),
    (
        lambda: Pattern.begin("a", AfterMatchSkipStrategy.skip_to_first("z")).freeze(),
        "The pattern name 'z' that skip_to_first('z') skips to is not in the pattern; there are ['a']",
    ),
    (
        lambda: a().next("b").within(Time.seconds(2), BETWEEN).within(SECOND).freeze(),
        "'b': the time between the previous and the current event (2000 ms) is longer than that between the first",
    ),
    (lambda: a().times(2, Time.seconds(2)).within(SECOND).freeze(), "'a': the time between the previous and the curr"),
    (lambda: a().within(SECOND, BETWEEN).freeze(), "'a': the first pattern has no previous event to count from"),
    (
        lambda: a().not_followed_by("n").within(SECOND, BETWEEN).next("b").freeze(),
        "'n': within() between previous and current event says nothing of a not-pattern",
    ),
]


@pytest.mark.parametrize(("build", "text"), MALFORMED, ids=[text for _, text in MALFORMED])
def test_a_malformed_pattern_is_refused(build: Callable[[], Any], text: str) -> None:
    """C1, P9."""
    with pytest.raises(MalformedPatternException) as refused:
        build()
    assert text in str(refused.value)


def stream() -> Any:
    return StreamExecutionEnvironment().from_collection([1])


WRONG_TYPES: list[tuple[Callable[[], Any], str]] = [
    (lambda: Pattern.begin(5), "a pattern takes a name or a Pattern, got 5"),  # type: ignore[arg-type]
    (lambda: Pattern.begin(""), "a pattern takes a name or a Pattern, got ''"),
    (lambda: Pattern.begin("a", "skip"), "begin() takes an AfterMatchSkipStrategy, got str"),  # type: ignore[arg-type]
    (lambda: a().where(5), "where() takes a condition or a function of an event, got int"),  # type: ignore[arg-type]
    (lambda: a().or_where(int), "or_where() takes a condition or a function of an event, got int"),
    (lambda: a().subtype("int"), "subtype() takes a class, got 'int'"),  # type: ignore[arg-type]
    (lambda: a().within(5), "within() takes a Time, a Duration or a timedelta, got 5"),  # type: ignore[arg-type]
    (lambda: a().within(Duration.of_millis(1), "x"), "within() takes a WithinType, got 'x'"),  # type: ignore[arg-type]
    (lambda: AfterMatchSkipStrategy.skip_to_last(5), "skip_to_last() takes the name of a pattern, got 5"),  # type: ignore[arg-type]
    (lambda: CEP.pattern([], a()), "CEP.pattern() takes a stream, got list"),  # type: ignore[arg-type]
    (lambda: CEP.pattern(stream(), "a"), "CEP.pattern() takes a Pattern, got str"),  # type: ignore[arg-type]
    (lambda: CEP.pattern(stream(), a(), 5), "CEP.pattern() takes a comparator of two events, got int"),
    (lambda: CEP.pattern(stream(), a()).process(len), "process() takes a PatternProcessFunction, got builtin"),  # type: ignore[arg-type]
    (lambda: CEP.pattern(stream(), a()).select(5), "select() takes a function or a PatternSelectFunction, got int"),
    (
        lambda: CEP.pattern(stream(), a()).select(),
        "select() takes (function) or (tag, timeout_function, function), got 0",
    ),
    (lambda: CEP.pattern(stream(), a()).select("t", len, len), "select() takes an OutputTag, got str"),
    (
        lambda: CEP.pattern(stream(), a()).flat_select(OutputTag("t"), 5, len),
        "flat_select() takes a function or a PatternFlatTimeoutFunction, got int",
    ),
    (
        lambda: CEP.pattern(stream(), a()).side_output_late_data("t"),
        "side_output_late_data() takes an OutputTag, got str",
    ),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("build", "text"), WRONG_TYPES, ids=[text for _, text in WRONG_TYPES])
def test_a_wrong_argument_is_refused(build: Callable[[], Any], text: str) -> None:
    """P9."""
    with pytest.raises(TypeError) as refused:
        build()
    assert text in str(refused.value)


def test_a_pattern_is_refused_when_it_meets_the_stream() -> None:
    """P9: before anything runs."""
    with pytest.raises(MalformedPatternException, match="needs within"):
        CEP.pattern(stream(), a().not_followed_by("n"))
    with pytest.raises(ProgramError, match="a comparator is for event time only"):
        CEP.pattern(stream(), a(), lambda x, y: 0).in_processing_time()


def test_function_objects_of_another_kind_are_refused() -> None:
    """P9."""

    class Map(MapFunction):
        def map(self, value: Any) -> Any:
            return value

    class Process(PatternProcessFunction):
        def process_match(self, match: Any, ctx: Any) -> None:
            return None

    with pytest.raises(TypeError, match=r"where\(\) takes a condition or a function of an event, got Map"):
        a().where(Map())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"select\(\) takes a function or a PatternSelectFunction, got Process"):
        CEP.pattern(stream(), a()).select(Process())
