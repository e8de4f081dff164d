"""P11, T7: watermark generators of one's own change nothing in what comes out, however the input is cut."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from penstock.common import WatermarkStrategy
from penstock.common.watermark_strategy import Watermark, WatermarkGenerator, WatermarkOutput
from penstock.core.program.job import RuntimeSettings
from penstock.datastream import DataStream, StreamExecutionEnvironment
from penstock.testing import At, ManualClock, ScriptedSource, collect, local_job
from tests.effort import examples
from tests.properties.programs import PROGRAMS, Event
from tests.properties.test_same_results import DELAY_MS, batches, inputs, run, runtime_settings


class Periodic(WatermarkGenerator):
    """Bounded out of orderness by hand."""

    def __init__(self) -> None:
        self.largest: int | None = None

    def on_event(self, event: Event, event_timestamp: int, output: WatermarkOutput) -> None:
        self.largest = max(event_timestamp, event_timestamp if self.largest is None else self.largest)

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        if self.largest is not None:
            output.emit_watermark(Watermark(self.largest - DELAY_MS - 1))


class Punctuated(Periodic):
    """… at every second record, at once."""

    seen = 0

    def on_event(self, event: Event, event_timestamp: int, output: WatermarkOutput) -> None:
        super().on_event(event, event_timestamp, output)
        self.seen += 1
        if self.seen % 2 == 0:
            super().on_periodic_emit(output)

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Says nothing."""


class Napping(Punctuated):
    """… and falls asleep after every record, to be woken by the next."""

    def on_event(self, event: Event, event_timestamp: int, output: WatermarkOutput) -> None:
        output.mark_active()
        super().on_event(event, event_timestamp, output)
        output.mark_idle()


def partitioned(
    env: StreamExecutionEnvironment, splits: list[list[Event]], strategy: WatermarkStrategy, subtasks: int
) -> DataStream[Event]:
    """One source with several partitions, read by some subtasks; watermarks are made right behind it."""
    source = ScriptedSource([[At(e.ts, e) for e in split] for split in splits], parallelism=subtasks)
    return env.from_source(source, strategy, "partitions")


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("generator", [Periodic, Punctuated])
@settings(max_examples=examples(25), deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink])
@given(
    splits=st.lists(inputs(), min_size=1, max_size=4),
    subtasks=st.integers(1, 3),
    parallelism=st.sampled_from([1, 2, 4]),
    plan=batches,
    options=runtime_settings,
)
def test_batches_parallelism_and_restarts_do_not_change_results(
    name: str,
    generator: Any,
    splits: list[list[Event]],
    subtasks: int,
    parallelism: int,
    plan: list[tuple[int, str]],
    options: RuntimeSettings,
) -> None:
    """P11, T5, T7, F1: against a brute-force oracle, which knows nothing of partitions or batches; nothing is late."""
    program, oracle = PROGRAMS[name]
    env = StreamExecutionEnvironment()
    collect(program(partitioned(env, splits, WatermarkStrategy.for_generator(generator), subtasks)), "out")
    job = local_job(env, parallelism, settings=options, clock=ManualClock())
    run(job, plan)
    assert Counter(job.results.get("out", [])) == oracle([event for split in splits for event in split])


@settings(max_examples=examples(100), deadline=None)
@given(events=inputs(), parallelism=st.sampled_from([1, 2, 4]), plan=batches, options=runtime_settings)
def test_one_partition_that_naps_between_its_records_loses_nothing(
    events: list[Event], parallelism: int, plan: list[tuple[int, str]], options: RuntimeSettings
) -> None:
    """P11, T6: a stream that wakes is not overtaken by itself."""
    program, oracle = PROGRAMS["counted"]
    env = StreamExecutionEnvironment()
    stream = partitioned(env, [events], WatermarkStrategy.for_generator(Napping), 1)
    collect(program(stream.rebalance().map(lambda e: e)), "out")
    job = local_job(env, parallelism, settings=options, clock=ManualClock())
    run(job, plan)
    assert Counter(job.results.get("out", [])) == oracle(events)


@settings(max_examples=examples(60), deadline=None)
@given(
    splits=st.lists(st.lists(st.integers(0, 60), max_size=12), min_size=1, max_size=4),
    subtasks=st.integers(1, 3),
    sizes=st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["commit", "lose", "restart"])), max_size=8),
)
def test_what_a_generator_says_does_not_depend_on_batches(
    splits: list[list[int]], subtasks: int, sizes: list[tuple[int, str]]
) -> None:
    """T7, F1: the last clock before the end is the minimum over partitions of what each said last."""
    env = StreamExecutionEnvironment()
    source = ScriptedSource([[At(t, t) for t in split] for split in splits], bounded=False, parallelism=subtasks)
    stream = env.from_source(source, WatermarkStrategy.for_generator(Punctuated), "partitions")
    collect(stream.key_by(lambda t: 0).reduce(lambda a, b: a), "out")
    job = local_job(env, 1, clock=ManualClock())
    for limit, fate in [*sizes, (10**6, "commit")]:
        job.run_batch(limit, commit=fate != "lose")
        if fate != "commit":
            job.restart()
    said = [max(split[: len(split) // 2 * 2], default=None) for split in splits]
    expected = None if None in said else min(said) - DELAY_MS - 1  # type: ignore[type-var,operator]
    (clock,) = {m["watermark"] for m in job.metrics if m["name"].startswith("Reduce")}
    assert clock == (-(2**63) if expected is None else expected)
