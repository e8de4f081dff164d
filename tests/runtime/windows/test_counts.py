"""W7: late records are counted always; fired, late and dropped are in the driver's metrics."""

from typing import Any

import pytest

from penstock.common import Time
from penstock.core.program.job import RuntimeSettings
from penstock.datastream import AggregateFunction, OutputTag, StreamExecutionEnvironment
from penstock.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from penstock.testing import At, LocalJob, ManualClock, Mark, ScriptedSource, collect, local_job, scripted_stream
from tests.runtime.windows.kit import Values

TEN = TumblingEventTimeWindows.of(Time.milliseconds(10))
SLIDES = SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5))
SESSION = EventTimeSessionWindows.with_gap(Time.milliseconds(5))
LATE = OutputTag("late")


class Largest(AggregateFunction):
    mergeable = True

    def create_accumulator(self) -> Any:
        return 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return max(value[1], accumulator)

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return max(acc_a, acc_b)


FUNCTIONS = {
    "process": lambda windowed: windowed.process(Values()),
    "reduce": lambda windowed: windowed.reduce(lambda a, b: a),
    "panes": lambda windowed: windowed.aggregate(Largest()),
}


def script() -> list[Any]:
    """Two windows of each key; four records too late, whatever the windows of this file."""
    events: list[Any] = [At(t, (key, t)) for key in ("a", "b", "c") for t in (1, 21)]
    return [*events, Mark(100), *(At(t, ("a", t)) for t in (2, 3, 22)), Mark(110), At(4, ("b", 4)), At(200, ("b", 200))]


def job_of(assigner: Any, function: Any, tagged: bool, parallelism: int = 2) -> LocalJob:
    env = StreamExecutionEnvironment()
    stream = scripted_stream(env, ScriptedSource([script()]))
    windowed = stream.key_by(lambda v: v[0]).window(assigner)
    windowed = windowed.side_output_late_data(LATE) if tagged else windowed
    out = function(windowed).uid("windows")
    collect(out, "out")
    if tagged:
        collect(out.get_side_output(LATE), "late")
    return local_job(env, parallelism, settings=RuntimeSettings(watermark_records=1), clock=ManualClock())


def counts(job: LocalJob) -> dict[str, int]:
    return {name: count for name, count in job.book.totals()["windows"].items() if name.startswith("num")}


@pytest.mark.parametrize("tagged", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("assigner", "fired"), [(TEN, 7), (SLIDES, 14), (SESSION, 7)])
def test_fired_late_and_dropped_reach_the_driver(assigner: Any, fired: int, function: str, tagged: bool) -> None:
    """W7, G6: late ones count with and without a side output; only without one are they dropped."""
    job = job_of(assigner, FUNCTIONS[function], tagged)
    job.run()
    assert counts(job) == {"numWindowsFired": fired, "numLateRecords": 4, "numLateRecordsDropped": 0 if tagged else 4}
    assert len(job.results["out"]) == fired
    assert len(job.results.get("late", [])) == (4 if tagged else 0)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_batch_that_is_run_twice_counts_once(function: str) -> None:
    """F1, W7"""
    job = job_of(TEN, FUNCTIONS[function], False)
    while not job.finished:
        job.run_batch(3, commit=False)
        job.restart()
        job.run_batch(3)
    assert counts(job) == {"numWindowsFired": 7, "numLateRecords": 4, "numLateRecordsDropped": 4}


def test_every_firing_counts() -> None:
    """W6: and nothing is counted for a window that has nothing to show."""
    job = job_of(TEN, lambda windowed: windowed.trigger(CountTrigger.of(1)).process(Values()), False)
    job.run()
    assert counts(job)["numWindowsFired"] == 7
    silent = job_of(TEN, lambda windowed: windowed.trigger(CountTrigger.of(99)).process(Values()), False)
    silent.run()
    assert counts(silent)["numWindowsFired"] == 0
