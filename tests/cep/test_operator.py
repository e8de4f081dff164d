"""Patterns on streams: time, lateness, time-outs, state, restarts."""

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from penstock.cep import (
    CEP,
    AfterMatchSkipStrategy,
    MatchError,
    Pattern,
    PatternFlatSelectFunction,
    PatternProcessFunction,
    PatternSelectFunction,
    PatternStream,
    RichIterativeCondition,
    TimedOutPartialMatchHandler,
    WithinType,
)
from penstock.common import Duration, Time, WatermarkStrategy
from penstock.common.errors import ProgramError, TimestampError, UserFunctionError
from penstock.datastream import DataStream, OutputTag, StreamExecutionEnvironment
from penstock.testing import PatternHarness, collect, local_job
from tests.cep.random_patterns import letters, random_pattern, random_stream
from tests.cep.test_oracle import END_MS, match, ordered
from tests.effort import some

LATE, OUT_OF_TIME, POISON = OutputTag("late"), OutputTag("out of time"), OutputTag("poison")


class Everything(PatternProcessFunction, TimedOutPartialMatchHandler):
    """Matches and what ran out of time, each with its timestamp."""

    def process_match(self, match: Any, ctx: Any) -> Iterable[Any]:
        yield False, match, ctx.timestamp()

    def process_timed_out_match(self, match: Any, ctx: Any) -> None:
        ctx.output(OUT_OF_TIME, (True, match, ctx.timestamp()))


def everything(found: PatternStream) -> DataStream[Any]:
    return found.process(Everything())


def a_then_b(**within: Any) -> Pattern:
    return Pattern.begin("a").where(letters("a")).followed_by("b").where(letters("b"))


def test_event_time_puts_events_in_order_first() -> None:
    """C2: an event waits until the watermark has passed it; equal timestamps are taken as they came."""
    pattern = Pattern.begin("a").where(letters("a")).next("b").where(letters("b"))
    harness = PatternHarness(pattern, everything)
    harness.push_all([("b1", 5), ("x", 7), ("a1", 3), ("b2", 7), ("a2", 6)])
    harness.push_watermark(4)
    assert harness.output() == []
    harness.push_watermark(6)
    assert harness.output_with_timestamps() == [((False, {"a": ["a1"], "b": ["b1"]}, 5), 5)]
    harness.push_watermark(10)
    assert len(harness.output()) == 1  # x came before b2 at 7
    harness.assert_no_leaks()


def test_a_comparator_orders_events_of_the_same_moment() -> None:
    """C2."""
    pattern = Pattern.begin("a").next("b")

    def by_name(x: str, y: str) -> int:
        return (x > y) - (x < y)

    harness = PatternHarness(pattern, lambda found: found.select(lambda m: m["a"] + m["b"]), comparator=by_name)
    harness.push_all([("c", 1), ("b", 1), ("a", 1)])
    harness.push_watermark(1)
    assert harness.output() == [["a", "b"], ["b", "c"]]


def test_late_events_go_to_their_tag() -> None:
    """C2, T10: late is what the watermark has reached."""
    harness = PatternHarness(a_then_b(), lambda f: everything(f.side_output_late_data(LATE)), tags=[LATE])
    harness.push_watermark(5)
    harness.push_all([("a1", 5), ("a2", 6), ("b1", 4), ("b2", 7)])
    harness.push_watermark(9)
    assert harness.side_output(LATE) == ["a1", "b1"]
    assert [match for _, match, _ in harness.output()] == [{"a": ["a2"], "b": ["b2"]}]


def test_late_events_without_a_tag_are_counted() -> None:
    """C2: dropped, but not in silence."""
    env = StreamExecutionEnvironment()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda v, _: v[1])
    stream = env.from_collection([("a", 10), ("b", 5), ("b", 20)]).assign_timestamps_and_watermarks(strategy)
    collect(CEP.pattern(stream, a_then_b()).select(lambda m: [v[1] for vs in m.values() for v in vs]), "found")
    job = local_job(env)
    job.run([1, 1, 1])
    assert job.results["found"] == [[10, 20]]
    assert "numLateRecordsDropped" in repr(job.metrics)


def test_partial_matches_run_out_of_time() -> None:
    """C2: when the watermark reaches first + within, without an event having to come."""
    pattern = a_then_b().within(Time.milliseconds(10))
    harness = PatternHarness(pattern, everything, tags=[OUT_OF_TIME])
    harness.push_all([("a1", 1), ("a2", 5), ("b1", 12), ("a3", 100)])
    harness.push_watermark(10)
    assert harness.event_time_timers()
    assert harness.side_output(OUT_OF_TIME) == []
    harness.push_watermark(11)
    assert harness.side_output(OUT_OF_TIME) == [(True, {"a": ["a1"]}, 11)]
    harness.push_watermark(50)
    assert harness.output() == [(False, {"a": ["a2"], "b": ["b1"]}, 12)]
    harness.end_input()
    assert harness.side_output(OUT_OF_TIME)[1:] == [(True, {"a": ["a3"]}, 110)]
    harness.assert_no_leaks()


def test_what_does_not_come_in_time_completes_a_match() -> None:
    """C1: not_followed_by at the end, with within; the match is complete when the time is over."""
    for within_type in WithinType:
        pattern = Pattern.begin("order").where(letters("o")).not_followed_by("pay").where(letters("p"))
        pattern.within(Duration.of_millis(10), within_type)
        harness = PatternHarness(pattern, everything, lambda v: v[-1], tags=[OUT_OF_TIME])
        harness.push_all([("o1", 1), ("o2", 2), ("p1", 8), ("p2", 12)])
        harness.push_watermark(11)
        assert harness.output() == []
        harness.push_watermark(12)
        assert harness.output_with_timestamps() == [((False, {"order": ["o2"]}, 12), 12)]
        assert harness.side_output(OUT_OF_TIME) == []
        harness.assert_no_leaks()


def test_time_between_two_events() -> None:
    """C1: within(PREVIOUS_AND_CURRENT) counts from the event before."""
    pattern = a_then_b().within(Time.milliseconds(5), WithinType.PREVIOUS_AND_CURRENT)
    pattern = pattern.followed_by("c").where(letters("c"))
    harness = PatternHarness(pattern, everything, lambda v: v[1:], tags=[OUT_OF_TIME])
    harness.push_all([("a1", 0), ("b1", 4), ("c1", 100), ("a2", 0), ("b2", 5), ("c2", 100)])
    harness.push_watermark(200)
    assert harness.output() == [(False, {"a": ["a1"], "b": ["b1"], "c": ["c1"]}, 100)]
    assert harness.side_output(OUT_OF_TIME) == [(True, {"a": ["a2"]}, 5)]
    harness.assert_no_leaks()


def test_processing_time_takes_events_as_they_come() -> None:
    """C2: matched at once, and the clock says when time is over."""
    pattern = a_then_b().within(Time.milliseconds(10))
    harness = PatternHarness(pattern, lambda f: everything(f.in_processing_time()), tags=[OUT_OF_TIME], now_ms=100)
    harness.push("a1", timestamp=50)
    harness.set_processing_time(105)
    harness.push("b1", timestamp=3)
    assert harness.output() == [(False, {"a": ["a1"], "b": ["b1"]}, 105)]
    harness.push("a2")
    harness.set_processing_time(114)
    assert harness.side_output(OUT_OF_TIME) == []
    harness.set_processing_time(115)
    assert harness.side_output(OUT_OF_TIME) == [(True, {"a": ["a2"]}, 115)]
    harness.assert_no_leaks()


def test_select_and_flat_select() -> None:
    """C2: one record or any number for every match, with functions or function objects, time-outs to a tag."""

    class One(PatternSelectFunction):
        def select(self, pattern: Any) -> Any:
            return sorted(pattern)

    class Many(PatternFlatSelectFunction):
        def flat_select(self, pattern: Any) -> Iterable[Any]:
            yield from pattern["a"] + pattern["b"]

    def run(attach: Any) -> tuple[list[Any], list[Any]]:
        harness = PatternHarness(a_then_b().within(Time.milliseconds(5)), attach, tags=[OUT_OF_TIME])
        harness.push_all([("a1", 0), ("b1", 1), ("a2", 2)])
        harness.end_input()
        return harness.output(), harness.side_output(OUT_OF_TIME)

    assert run(lambda f: f.select(One())) == ([["a", "b"]], [])
    assert run(lambda f: f.flat_select(Many())) == (["a1", "b1"], [])
    timed = run(lambda f: f.select(OUT_OF_TIME, lambda match, at: (match["a"], at), lambda match: match["b"]))
    assert timed == ([["b1"]], [(["a2"], 7)])
    timed = run(lambda f: f.flat_select(OUT_OF_TIME, lambda match, at: match["a"] * 2, Many()))
    assert timed == (["a1", "b1"], ["a2", "a2"])


def test_each_key_has_matches_of_its_own() -> None:
    """C2, G5: a stream that is not keyed is matched as one, in one subtask."""
    events = [("a1", 1), ("b2", 2), ("a2", 3), ("b1", 4)]
    keyed = PatternHarness(a_then_b(), everything, lambda v: v[1], parallelism=3)
    keyed.push_all(events)
    keyed.push_watermark(9)
    assert [m["a"] + m["b"] for _, m, _ in keyed.output()] == [["a1", "b1"]]
    whole = PatternHarness(a_then_b(), everything)
    whole.push_all(events)
    whole.push_watermark(9)
    assert [m["a"] + m["b"] for _, m, _ in whole.output()] == [["a1", "b2"], ["a2", "b1"]]


@pytest.mark.parametrize("seed", some(range(150), 40))
def test_neither_batches_nor_restarts_nor_watermarks_change_what_is_found(seed: int) -> None:
    """C3, P11: random patterns, keys, cuts and restarts in the middle of matches give what the matcher alone gives."""
    random = Random(seed)
    pattern, stream = random_pattern(random), random_stream(random, 9)
    spec = pattern.freeze()
    harness = PatternHarness(pattern, everything, lambda v: v[1], tags=[OUT_OF_TIME], parallelism=random.randint(1, 3))
    found = {}
    for key in "xy":
        for value, stamp in stream:
            harness_event = (f"{value[0]}{key}{value[1:]}", stamp)
            harness.push(*harness_event)
        if random.random() < 0.5:
            harness = _restarted(harness, pattern)
    expected = []
    for key in "xy":
        own = [(f"{value[0]}{key}{value[1:]}", stamp) for value, stamp in stream]
        expected.append(match(spec, own)[0])
    mark = -1
    while mark < END_MS:
        mark += random.choice([1, 1, 2, 5, END_MS])
        harness.push_watermark(min(mark, END_MS))
        if random.random() < 0.3:
            found, harness = _gathered(harness, found), _restarted(harness, pattern)
    found = _gathered(harness, found)
    for key, wanted in zip("xy", expected, strict=True):
        assert ordered(found.get(key, [])) == ordered(wanted)
    if spec.within_ms is not None:
        harness.assert_no_leaks()


def _restarted(harness: PatternHarness, pattern: Pattern) -> PatternHarness:
    snapshot, parallelism = harness.snapshot(), len(harness._stores)
    key: Any = lambda v: v[1]  # noqa: E731
    return PatternHarness(pattern, everything, key, tags=[OUT_OF_TIME], parallelism=parallelism, snapshot=snapshot)


def _gathered(harness: PatternHarness, found: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """What came out so far, by key."""
    for record in harness.output() + harness.side_output(OUT_OF_TIME):
        key = next(iter(record[1].values()))[0][1]
        found.setdefault(key, []).append(record)
    harness.clear_output()
    return found


@dataclass
class Reading:
    """An event that can be changed."""

    sensor: str
    value: int


def test_changing_an_event_changes_no_other_match() -> None:
    """S7: every match is given events as they came."""

    class Spoil(PatternProcessFunction):
        def process_match(self, match: Any, ctx: Any) -> Iterable[Any]:
            yield [event.value for events in match.values() for event in events]
            for events in match.values():
                for event in events:
                    event.value = -1

    loop = Pattern.begin("low").where(lambda r: r.value < 5).one_or_more().next("high").where(lambda r: r.value > 5)
    harness = PatternHarness(loop, lambda found: found.process(Spoil()), lambda r: r.sensor)
    harness.push_all([(Reading("s", 1), 1), (Reading("s", 2), 2)])
    harness.push_watermark(2)
    harness.push(Reading("s", 9), timestamp=3)
    harness.push_watermark(3)
    assert harness.output() == [[1, 2, 9], [2, 9]]


def test_conditions_and_functions_are_opened_and_closed() -> None:
    """P6: rich conditions and match functions."""
    calls: list[str] = []

    class Rich(RichIterativeCondition):
        def __deepcopy__(self, memo: Any) -> Any:
            return self

        def open(self, runtime_context: Any) -> None:
            calls.append(f"open {runtime_context.get_index_of_this_subtask()}")

        def close(self) -> None:
            calls.append("close")

        def filter(self, value: Any, ctx: Any) -> bool:
            return ctx.timestamp() == 4 and ctx.current_processing_time() == 0

    harness = PatternHarness(Pattern.begin("a").where(Rich()).where(letters("a")), everything)
    harness.push_all([("a1", 3), ("a2", 4)])
    harness.push_watermark(9)
    harness.close()
    assert [match["a"] for _, match, _ in harness.output()] == [["a2"]]
    assert calls == ["open 0", "close"]


def test_event_time_needs_timestamps() -> None:
    """P9: refused with the way out."""
    harness = PatternHarness(a_then_b(), everything)
    with pytest.raises(TimestampError, match=r"record 'a1' has no timestamp.*in_processing_time\(\)"):
        harness.push("a1")


def test_a_condition_that_fails_names_operator_and_record() -> None:
    """P9."""
    harness = PatternHarness(Pattern.begin("a").where(lambda v: v[9] == "a"), everything)
    harness.push("a1", timestamp=1)
    with pytest.raises(UserFunctionError, match=r"A condition of operator 'PatternMatch'.*on record 'a1'"):
        harness.push_watermark(1)


def test_a_record_on_which_a_condition_fails_can_be_put_aside() -> None:
    """F9: it counts as if it had not come."""
    pattern = Pattern.begin("a").where(letters("a")).next("b").where(lambda v: v[0] + v[1] == "b1")
    harness = PatternHarness(pattern, lambda f: everything(f).on_poison(POISON), tags=[POISON])
    harness.push_all([("a1", 1), ("x", 2), ("b1", 3)])
    harness.push_watermark(9)
    assert [match for _, match, _ in harness.output()] == [{"a": ["a1"], "b": ["b1"]}]
    assert harness.side_output(POISON) == [("x", "IndexError: string index out of range")]


def test_a_match_function_that_fails_says_so() -> None:
    """P9."""
    harness = PatternHarness(a_then_b(), lambda f: f.flat_select(lambda match: 5))
    harness.push_all([("a1", 1), ("b1", 2)])
    with pytest.raises(UserFunctionError, match=r"process_match of operator 'PatternMatch'.*returned 5"):
        harness.push_watermark(9)


def test_a_name_that_is_not_in_the_pattern_is_a_mistake() -> None:
    """P9: a condition asks for the events of a pattern that does not exist."""
    harness = PatternHarness(Pattern.begin("a").where(lambda v, ctx: bool(ctx.get_events_for_pattern("b"))), everything)
    harness.push("a1", timestamp=1)
    with pytest.raises(ProgramError, match=r"get_events_for_pattern\('b'\): no pattern is called that; there are a"):
        harness.push_watermark(1)


@pytest.mark.parametrize(
    ("skip", "text"),
    [
        (AfterMatchSkipStrategy.skip_to_first("c"), r"cannot skip_to_first\('c'\) in a match: it has no event of that"),
        (AfterMatchSkipStrategy.skip_to_last("a"), r"cannot skip_to_last\('a'\) in a match: the match begins with it"),
    ],
)
def test_a_skip_strategy_may_fail_on_a_miss(skip: Any, text: str) -> None:
    """C1: throw_exception_on_miss."""

    def run(strategy: AfterMatchSkipStrategy) -> list[Any]:
        pattern = Pattern.begin("a", strategy).where(letters("a")).next("c").where(letters("c")).optional()
        harness = PatternHarness(pattern, everything)
        harness.push("a1", timestamp=1)
        harness.push_watermark(1)
        return harness.output()

    assert len(run(skip)) == 1
    with pytest.raises(MatchError, match=text):
        run(skip.throw_exception_on_miss())
