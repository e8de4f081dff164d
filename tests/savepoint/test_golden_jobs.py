"""F4: a job that is stopped, rescaled and changed gives what one whole run gives."""

from __future__ import annotations

import tempfile
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from penstock.common import Duration, Time, WatermarkStrategy
from penstock.core.program.job import RuntimeSettings
from penstock.datastream import MapFunction, SourceFunction, StreamExecutionEnvironment
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.runtime.codec import decode, loads
from penstock.savepoint.savepoint import Savepoint
from penstock.testing import At, LocalJob, ManualClock, ScriptedSource, Tick, collect, local_job
from tests.effort import examples
from tests.properties.programs import Event, expect_counted, expect_summed
from tests.properties.test_same_results import inputs, runtime_settings
from tests.runtime.test_operator_state import Running
from tests.savepoint.programs import RESULTS, VARIANTS, Variant, program

Leg = tuple[Variant, int, list[int]]
"""A run: the program as it is written, its parallelism, and the sizes of its batches."""


def run_legs(streams: list[list[Event]], legs: list[Leg], options: RuntimeSettings, folder: Path) -> dict[str, Any]:
    """Run the legs one after the other, each from the savepoint of the one before, the last one to the end."""
    found: dict[str, Counter[Any]] = {name: Counter() for name in RESULTS}
    saved: str | None = None
    for number, (variant, parallelism, sizes) in enumerate(legs):
        job = local_job(
            program(streams, variant),
            parallelism,
            settings=options,
            clock=ManualClock(),
            savepoint=saved,
            allow_unclaimed=True,
        )
        if number == len(legs) - 1:
            job.run(sizes)
        else:
            for size in sizes:
                job.run_batch(size)
            saved = str(folder / f"{number}")
            job.savepoint(saved)
        for name in RESULTS:
            found[name].update(job.results.get(name, []))
    return found


def whole(streams: list[list[Event]]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return run_legs(streams, [(Variant(), 1, [])], RuntimeSettings(), Path(folder))


STREAMS = [
    [Event("abc"[n % 3], n + (n * 7) % 11, (n * 5) % 9 - 1) for n in range(120)],
    [Event("bcd"[n % 3], 2 * n + n % 5, (n * 3) % 10) for n in range(60)],
]


@pytest.mark.parametrize("variant", VARIANTS)
def test_two_to_four_to_one_with_a_changed_program_in_between(variant: Variant, tmp_path: Path) -> None:
    """F4, S4, C3: timers, windows, sessions, partial matches, operator and broadcast state included."""
    legs: list[Leg] = [(Variant(), 2, [20, 5]), (variant, 4, [15, 30]), (Variant(), 1, [7])]
    found = run_legs(STREAMS, legs, RuntimeSettings(), tmp_path)
    assert found == whole(STREAMS)
    events = [event for stream in STREAMS for event in stream]
    assert found["counted"] == expect_counted(events)
    assert found["summed"] == expect_summed(events)
    assert found["matches"], "the pattern is to match"


legs = st.lists(
    st.tuples(
        st.sampled_from(VARIANTS),
        st.sampled_from([1, 2, 3, 4]),
        st.lists(st.integers(0, 12), min_size=1, max_size=3),
    ),
    min_size=2,
    max_size=4,
)


@settings(max_examples=examples(20), deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink])
@given(streams=st.lists(inputs(), min_size=1, max_size=3), plan=legs, options=runtime_settings)
def test_savepoints_between_any_two_forms_do_not_change_results(
    streams: list[list[Event]], plan: list[Leg], options: RuntimeSettings
) -> None:
    """F4, P11: any parallelism, any change, any batches, pages of any size."""
    with tempfile.TemporaryDirectory() as folder:
        assert run_legs(streams, plan, options, Path(folder)) == whole(streams)


def test_a_savepoint_is_taken_in_again_if_the_first_batch_is_lost(tmp_path: Path) -> None:
    """F1, F4."""
    first = local_job(program(STREAMS), 2, clock=ManualClock())
    first.run_batch(30)
    saved = first.savepoint(str(tmp_path / "one"))
    job = local_job(program(STREAMS), 3, clock=ManualClock(), savepoint=saved.path)
    job.run_batch(10, commit=False)
    job.restart()
    job.run_batch(10, commit=False)
    job.run()
    assert Counter(first.results["counted"] + job.results["counted"]) == whole(STREAMS)["counted"]


def test_operator_state_is_dealt_out_evenly_and_nothing_is_lost(tmp_path: Path) -> None:
    """S3, F4: split lists."""
    first = local_job(program(STREAMS), 2, clock=ManualClock())
    first.run_batch(30)
    saved = first.savepoint(str(tmp_path / "one"))
    job = local_job(program(STREAMS), 4, clock=ManualClock(), savepoint=saved.path)
    job.run_batch(0)
    again = job.savepoint(str(tmp_path / "two"))
    before, after = (_kept(s) for s in (saved, again))
    assert sorted(map(repr, chain(*before.values()))) == sorted(map(repr, chain(*after.values())))
    assert [len(after[s]) for s in range(4)] == [15, 15, 15, 15]


def _kept(savepoint: Savepoint) -> dict[int, list[Any]]:
    lists: dict[int, list[Any]] = {}
    for blob in savepoint.blobs({"list"}):
        assert blob.operator == "kept"
        lists.setdefault(blob.place, []).extend(map(decode, loads(blob.value)[1]))
    return lists


def test_batch_numbers_go_on(tmp_path: Path) -> None:
    """F4: names made of them stay unlike each other."""
    first = local_job(program(STREAMS), 2, clock=ManualClock())
    first.run_batch(3)
    first.run_batch(3)
    job = local_job(program(STREAMS), 1, clock=ManualClock(), savepoint=first.savepoint(str(tmp_path / "one")).path)
    assert job.batch_id == 2


def test_a_drained_job_has_fired_everything_and_can_go_on(tmp_path: Path) -> None:
    """F4: +∞ first; sources stay where they were, and time starts over."""
    job = local_job(program(STREAMS), 2, clock=ManualClock())
    job.run_batch(30)
    job.drain()
    events = [event for stream in STREAMS for event in stream[:30]]
    assert Counter(job.results["counted"]) == expect_counted(events)
    saved = job.savepoint(str(tmp_path / "one"))
    assert saved.metadata.drained
    assert [p.ended for s in saved.metadata.sources for p in s.splits] == [False, False, True]
    rest = local_job(program(STREAMS), 1, clock=ManualClock(), savepoint=saved.path)
    rest.run()
    assert Counter(rest.results["counted"]) == expect_counted([event for stream in STREAMS for event in stream[30:]])


def test_what_has_ended_stays_ended(tmp_path: Path) -> None:
    """T4, T5: an input that ended before the savepoint does not hold the clock back behind it."""
    streams = [STREAMS[0], STREAMS[1][:10]]
    job = local_job(program(streams), 2, clock=ManualClock())
    job.run_batch(40)  # the second has ended
    saved = job.savepoint(str(tmp_path / "one"))
    rest: LocalJob = local_job(program(streams, Variant(stage=1)), 3, clock=ManualClock(), savepoint=saved.path)
    rest.run_batch(40)
    early = Counter(job.results["counted"] + rest.results["counted"])
    assert max(start for _, start, *_ in early) == 50, "windows close before the end of the input"
    rest.run()
    assert Counter(job.results["counted"] + rest.results["counted"]) == whole(streams)["counted"]


class Told(Running, MapFunction):
    """Records with what their subtask found in a union list when it started."""

    union = True

    def map(self, value: Any) -> Any:
        self.count += 1
        return value, sorted(self.restored), self.was_restored


def told(parallelism: int, saved: str | None = None) -> LocalJob:
    env = StreamExecutionEnvironment()
    collect(env.from_collection(list(range(12))).uid("n").rebalance().map(Told()).uid("told"), "out")
    return local_job(env, parallelism, savepoint=saved)


def test_union_lists_go_to_every_subtask(tmp_path: Path) -> None:
    """S3, F4."""
    first = told(2)
    first.run_batch(5)
    job = told(3, first.savepoint(str(tmp_path / "one")).path)
    job.run_batch(3)
    assert sorted(job.results["out"]) == [(5, [2, 3], True), (6, [2, 3], True), (7, [2, 3], True)]
    job.restart()
    job.run_batch(3)
    assert {str(found) for _, found, _ in job.results["out"][3:]} == {"[6, 6, 6]"}


def test_idle_inputs_stay_idle(tmp_path: Path) -> None:
    """T6, F4: an input that had fallen asleep does not hold the clock back after the start."""

    def job(parallelism: int, saved: str | None, clock: ManualClock) -> LocalJob:
        env = StreamExecutionEnvironment()
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda e, _: e[1])
        idle = strategy.with_idleness(Duration.of_millis(10))
        steps = [At(None, ("a", t)) for t in range(0, 40, 10)]
        later = [Tick(20), *(At(None, ("a", t)) for t in range(40, 80, 10)), Tick(1000)]
        busy = env.from_source(ScriptedSource([[*steps, *later]]), strategy, "b")
        quiet = env.from_source(ScriptedSource([[At(None, ("a", 1)), Tick(1000), At(None, ("a", 70))]]), idle, "q")
        stream = busy.uid("busy").union(quiet.uid("quiet")).map(lambda e: e).uid("all").rebalance()
        counts = stream.key_by(lambda e: e[0]).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        collect(counts.reduce(lambda a, b: (a[0], max(a[1], b[1]))).uid("windows"), "out")
        return local_job(env, parallelism, clock=clock, savepoint=saved)

    clock = ManualClock()
    first = job(2, None, clock)
    first.run_batch(100)
    clock.set_ms(15)
    first.run_batch(100)
    saved = first.savepoint(str(tmp_path / "one")).path
    assert [t for _, t in first.results["out"]] == [1, 10, 20], "the quiet one is asleep"
    clock.set_ms(25)
    rest = job(3, saved, clock)
    rest.run_batch(100)
    assert [t for _, t in rest.results["out"]] == [30, 40, 50, 60]


@pytest.mark.filterwarnings("ignore:.*cannot rewind")
def test_a_function_that_has_ended_is_not_run_again(tmp_path: Path) -> None:
    """F4, F7."""

    class Numbers(SourceFunction):
        def run(self, ctx: Any) -> None:
            for number in range(5):
                ctx.collect(number)

        def cancel(self) -> None:
            """It ends by itself."""

    def job(parallelism: int, saved: str | None) -> LocalJob:
        env = StreamExecutionEnvironment()
        numbers = env.add_source(Numbers()).uid("numbers")
        collect(numbers.key_by(lambda v: v).reduce(lambda a, b: a + b).uid("sum"), "out")
        return local_job(env, parallelism, savepoint=saved)

    first = job(1, None)
    while not first.finished:
        first.run_batch(100)
    rest = job(2, first.savepoint(str(tmp_path / "one")).path)
    rest.run()
    assert (first.results["out"], rest.results["out"]) == ([0, 1, 2, 3, 4], [])


def windows_of(channels: list[list[Any]], parallelism: int, saved: str | None, stages: int) -> LocalJob:
    """Largest timestamps of windows of 10 ms, behind some exchanges; each channel is a source of its own."""
    env = StreamExecutionEnvironment()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda v, _: v)
    made = [
        env.from_source(ScriptedSource([events], bounded=False), strategy, "s").uid(f"source {n}")
        for n, events in enumerate(channels)
    ]
    stream = made[0].union(*made[1:]) if len(made) > 1 else made[0]
    for n in range(stages):
        stream = stream.rebalance().map(lambda v: v).uid(f"stage {n}")
    windows = stream.key_by(lambda v: v // 10 % 3).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    collect(windows.reduce(max).uid("windows"), "out")
    return local_job(env, parallelism, clock=ManualClock(), savepoint=saved)


@pytest.mark.parametrize(("before", "after"), [(0, 0), (1, 1), (0, 1), (2, 0)])
def test_what_was_late_stays_late(before: int, after: int, tmp_path: Path) -> None:
    """T10, F4: clocks are part of a savepoint, also where a stage is added or removed."""
    events = [At(None, 1), At(None, 100), At(None, 2), At(None, 200)]
    first = windows_of([events], 1, None, before)
    first.run_batch(2)
    rest = windows_of([events], 2, first.savepoint(str(tmp_path / "one")).path, after)
    rest.run_batch(10)
    assert (first.results["out"], rest.results["out"]) == ([1], [100])


def test_channels_start_where_they_stood(tmp_path: Path) -> None:
    """T5, F4: a source that is ahead and silent does not hold the clock back."""
    channels = [[At(None, 90)], [At(None, 10), At(None, 50)]]
    first = windows_of(channels, 1, None, 0)
    first.run_batch(1)
    saved = first.savepoint(str(tmp_path / "one")).path
    rest = windows_of(channels, 2, saved, 0)
    rest.run_batch(10)
    assert (first.results, rest.results) == ({"out": []}, {"out": [10]})
