"""W8 against nested loops: every kind of join × batches × parallelism × out-of-orderness × restarts."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from penstock.common import Duration, RowKind, Time, WatermarkStrategy
from penstock.core.program.job import RuntimeSettings
from penstock.datastream import DataStream, OutputTag, ProcessFunction, ProcessJoinFunction, StreamExecutionEnvironment
from penstock.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows
from penstock.runtime.state.store_keys import BlobKind, kind_of
from penstock.testing import JoinHarness, ManualClock, collect, local_job
from tests.effort import examples
from tests.properties.programs import Event
from tests.properties.test_same_results import batches, run, runtime_settings

MS = Time.milliseconds
PHASES = [Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink]
KEYS = st.sampled_from(["a", "b", 1, 1.0, ("a", 2), None])
EARLY, LATE = OutputTag("left"), OutputTag("right")


@st.composite
def inputs(draw: st.DrawFn, delay_ms: int) -> list[Event]:
    """Records at most `delay_ms` behind the largest timestamp so far, hence never late; some before the epoch."""
    front = draw(st.sampled_from([0, -100]))
    events = []
    rows = st.tuples(KEYS, st.integers(0, 12), st.integers(0, delay_ms), st.integers(0, 2))
    for key, step, lag, amount in draw(st.lists(rows, max_size=25)):
        front += step
        events.append(Event(key, front - lag, amount))
    return events


def source(env: StreamExecutionEnvironment, events: list[Event], delay_ms: int) -> DataStream[Event]:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(delay_ms))
    stamped = strategy.with_timestamp_assigner(lambda event, _: event.ts)
    return env.from_collection(events).assign_timestamps_and_watermarks(stamped)


class Stamp(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value, ctx.timestamp()


class Pair(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        yield left, right


def key(event: Event) -> Any:
    return event.key


def pair(left: Any, right: Any) -> Any:
    return left, right


def grouped(left: Iterable[Any], right: Iterable[Any]) -> Iterator[Any]:
    yield tuple(sorted(left, key=repr)), tuple(sorted(right, key=repr))


# -- oracles --------------------------------------------------------------------------------------


def pairs(lefts: list[Event], rights: list[Event]) -> Iterator[tuple[Event, Event]]:
    return ((left, right) for left in lefts for right in rights if left.key == right.key)


def expect_interval(lower: int, upper: int, outer: str, lefts: list[Event], rights: list[Event]) -> Counter[Any]:
    """Pairs with the larger timestamp; what is alone with the first one at which nothing can match any more."""
    met = [(x, y) for x, y in pairs(lefts, rights) if lower <= y.ts - x.ts <= upper]
    found = Counter(((x, y), max(x.ts, y.ts)) for x, y in met)
    matched_left, matched_right = {x for x, _ in met}, {y for _, y in met}
    if outer in ("left", "full"):
        found += Counter(((x, None), max(x.ts, x.ts + upper + 1)) for x in lefts if x not in matched_left)
    if outer in ("right", "full"):
        found += Counter(((None, y), max(y.ts, y.ts - lower + 1)) for y in rights if y not in matched_right)
    return found


def aligned(size: int, slide: int, events: list[tuple[int, Event]]) -> dict[Any, list[tuple[int, Event]]]:
    """(key, last timestamp) -> records, by trying every window that might hold one."""
    found: dict[Any, list[tuple[int, Event]]] = defaultdict(list)
    for side, event in events:
        for number in range((event.ts - size) // slide, event.ts // slide + 1):
            if number * slide <= event.ts < number * slide + size:
                found[event.key, number * slide + size - 1].append((side, event))
    return found


def sessions(gap: int, events: list[tuple[int, Event]]) -> dict[Any, list[tuple[int, Event]]]:
    found: dict[Any, list[tuple[int, Event]]] = {}
    by_key: dict[Any, list[tuple[int, Event]]] = defaultdict(list)
    for side, event in events:
        by_key[event.key].append((side, event))
    for name, mine in by_key.items():
        session: list[tuple[int, Event]] = []
        for side, event in sorted(mine, key=lambda item: item[1].ts):
            if session and event.ts > session[-1][1].ts + gap:
                found[name, session[-1][1].ts + gap - 1] = session
                session = []
            session.append((side, event))
        found[name, session[-1][1].ts + gap - 1] = session
    return found


def expect_windowed(windows: Callable[..., Any], kind: str, lefts: list[Event], rights: list[Event]) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for (_, last), members in windows([*((0, e) for e in lefts), *((1, e) for e in rights)]).items():
        sides = [[e for side, e in members if side == wanted] for wanted in (0, 1)]
        if kind == "join":
            found.update((both, last) for both in pairs(*sides))
        else:
            found[next(grouped(*sides)), last] += 1
    return found


def expect_left(lefts: list[Event], rights: list[Event]) -> Counter[Any]:
    met = list(pairs(lefts, rights))
    alone = set(lefts) - {x for x, _ in met}
    return Counter(met) + Counter((x, None) for x in lefts if x in alone)


# -- programs ---------------------------------------------------------------------------------------


def windowed(kind: str, assigner: Any) -> Callable[[Any, Any], DataStream[Any]]:
    function: Any = pair if kind == "join" else grouped
    return lambda a, b: getattr(a, kind)(b).where(key).equal_to(key).window(assigner).apply(function)


def check(
    build: Callable[[Any, Any], DataStream[Any]],
    expected: Counter[Any],
    given_inputs: tuple[list[Event], list[Event]],
    delay_ms: int,
    how: tuple[int, list[Any], RuntimeSettings],
    empty: bool = True,
) -> None:
    parallelism, plan, options = how
    env = StreamExecutionEnvironment()
    collect(build(*(source(env, events, delay_ms) for events in given_inputs)).process(Stamp()), "out")
    job = local_job(env, parallelism, settings=options, clock=ManualClock())
    run(job, plan)
    assert Counter(job.results.get("out", [])) == expected
    if empty:
        assert [
            name for name in job.state_blobs() if kind_of(name) is not BlobKind.OPERATOR
        ] == []  # a generator's own state may stay


JOBS = st.tuples(st.sampled_from([1, 2, 4]), batches, runtime_settings)
DELAYS = st.sampled_from([0, 3, 15])
BOUNDS = st.tuples(st.integers(-25, 25), st.integers(0, 40)).map(lambda b: (b[0], b[0] + b[1]))


def both(delay_ms: int) -> st.SearchStrategy[tuple[list[Event], list[Event]]]:
    return st.tuples(inputs(delay_ms), inputs(delay_ms))


WINDOWS: dict[str, tuple[Any, Callable[..., Any]]] = {
    "tumbling": (TumblingEventTimeWindows.of(MS(10)), lambda events: aligned(10, 10, events)),
    "sliding": (SlidingEventTimeWindows.of(MS(12), MS(5)), lambda events: aligned(12, 5, events)),
    "sessions": (EventTimeSessionWindows.with_gap(MS(6)), lambda events: sessions(6, events)),
}


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("kind", ["join", "co_group"])
@settings(max_examples=examples(20), deadline=None, phases=PHASES)
@given(data=st.data(), delay_ms=DELAYS, how=JOBS)
def test_window_joins(kind: str, name: str, data: st.DataObject, delay_ms: int, how: Any) -> None:
    """W8, W2, W4, P11, F1: and nothing is left in state."""
    lefts, rights = data.draw(both(delay_ms))
    assigner, windows = WINDOWS[name]
    check(windowed(kind, assigner), expect_windowed(windows, kind, lefts, rights), (lefts, rights), delay_ms, how)


@pytest.mark.parametrize("outer", ["inner", "left", "right", "full"])
@settings(max_examples=examples(30), deadline=None, phases=PHASES)
@given(data=st.data(), bounds=BOUNDS, delay_ms=DELAYS, how=JOBS)
def test_interval_joins(outer: str, data: st.DataObject, bounds: tuple[int, int], delay_ms: int, how: Any) -> None:
    """W8, P11, F1: intervals before, around and after; nothing is left in state."""
    lefts, rights = data.draw(both(delay_ms))

    def build(left: Any, right: Any) -> DataStream[Any]:
        joined = left.key_by(key).interval_join(right.key_by(key)).between(*map(MS, bounds))
        return (joined if outer == "inner" else getattr(joined, f"{outer}_outer")()).process(Pair())

    check(build, expect_interval(*bounds, outer, lefts, rights), (lefts, rights), delay_ms, how)


@settings(max_examples=examples(30), deadline=None, phases=PHASES)
@given(data=st.data(), delay_ms=DELAYS, how=JOBS)
def test_regular_inner_joins(data: st.DataObject, delay_ms: int, how: Any) -> None:
    """W8, P11, F1: the join of two tables, with the larger timestamp."""
    lefts, rights = data.draw(both(delay_ms))
    expected = Counter(((x, y), max(x.ts, y.ts)) for x, y in pairs(lefts, rights))
    check(
        lambda a, b: a.key_by(key).regular_join(b.key_by(key)).inner(pair),
        expected,
        (lefts, rights),
        delay_ms,
        how,
        empty=False,
    )


@settings(max_examples=examples(30), deadline=None, phases=PHASES)
@given(data=st.data(), delay_ms=DELAYS, how=JOBS)
def test_regular_left_joins(data: st.DataObject, delay_ms: int, how: Any) -> None:
    """W8, P11, F1: inserts without deletes are the left join of two tables, whoever came first; each delete takes
    back an insert before it."""
    lefts, rights = data.draw(both(delay_ms))
    parallelism, plan, options = how
    env = StreamExecutionEnvironment()
    left, right = (source(env, events, delay_ms).key_by(key) for events in (lefts, rights))
    collect(left.regular_join(right).left(pair), "out")
    job = local_job(env, parallelism, settings=options, clock=ManualClock())
    run(job, plan)
    rows: Counter[Any] = Counter()
    for kind, row in job.results.get("out", []):
        rows[row] += 1 if kind is RowKind.INSERT else -1
        assert rows[row] >= 0
    assert +rows == expect_left(lefts, rights)


# -- late records --------------------------------------------------------------------------------------

STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from([1, 2]), st.sampled_from(["a", "b"]), st.integers(-20, 60)),
        st.tuples(st.just(0), st.none(), st.integers(-20, 60)),
    ),
    max_size=40,
)


@settings(max_examples=examples(100), deadline=None, phases=PHASES)
@given(steps=STEPS, bounds=BOUNDS, outer=st.sampled_from(["inner", "left", "right", "full"]))
def test_interval_joins_with_late_records(steps: list[Any], bounds: tuple[int, int], outer: str) -> None:
    """W8, T10: what is not behind the watermark meets all it matches, whatever the watermark has forgotten already;
    the rest is late. After each step state holds only what can still match."""

    def attach(left: Any, right: Any) -> DataStream[Any]:
        joined = left.key_by(key).interval_join(right.key_by(key)).between(*map(MS, bounds))
        joined = joined.side_output_left_late_data(EARLY).side_output_right_late_data(LATE)
        return (joined if outer == "inner" else getattr(joined, f"{outer}_outer")()).process(Pair())

    harness = JoinHarness(attach, tags=[EARLY, LATE], parallelism=2)
    taken: dict[int, list[Event]] = {1: [], 2: []}
    late: dict[int, list[Event]] = {1: [], 2: []}
    clock = -(2**63)
    for number, (side, name, timestamp) in enumerate(steps):
        if side == 0:
            clock = max(clock, timestamp)
            with harness.batch():
                harness.push_watermark(timestamp, input=1)
                harness.push_watermark(timestamp, input=2)
        else:
            event = Event(name, timestamp, number)
            (late if timestamp < clock else taken)[side].append(event)
            harness.push(event, timestamp, input=side)
        assert all(due > clock for due, _ in harness.event_time_timers())
        assert bool(harness.state_blobs()) == can_still_match(bounds, taken, clock)
    harness.end_input()
    assert Counter(harness.output_with_timestamps()) == expect_interval(*bounds, outer, taken[1], taken[2])
    assert harness.side_output(EARLY) == late[1]
    assert harness.side_output(LATE) == late[2]
    harness.assert_no_leaks()


def can_still_match(bounds: tuple[int, int], taken: dict[int, list[Event]], clock: int) -> bool:
    """Whether any record's interval reaches the watermark or beyond."""
    lower, upper = bounds
    return any(e.ts + upper >= clock for e in taken[1]) or any(e.ts - lower >= clock for e in taken[2])
