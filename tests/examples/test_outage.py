"""U18: events per second and silence, by the clock."""

import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.outage import SILENCE_MS, Events, Outage, PerSecond, outages, per_second
from penstock.common import Configuration
from penstock.datastream import DataStream, StreamExecutionEnvironment
from penstock.testing import At, ManualClock, ScriptedSource, Tick, collect, local_job, scripted_stream
from tests.effort import examples


def attach(events: DataStream[Any]) -> None:
    collect(per_second(events), "counts")
    collect(outages(events), "outages")


@settings(max_examples=examples(25))
@given(st.lists(st.sampled_from([0, 1, 40, 300, 999, 1_000, 2_999, 3_000, 3_001, 7_000]), min_size=1, max_size=25))
def test_seconds_are_counted_and_silence_is_noticed(pauses: list[int]) -> None:
    """U18, T11, S4, W3: a second without events has no window; three seconds without any raise an alarm, once."""
    moments = [5_000 + sum(pauses[: place + 1]) for place in range(len(pauses))]
    end_ms = moments[-1] + 10_000
    script = [event for at_ms in moments for event in (Tick(at_ms), At(0, "s"))]
    source = ScriptedSource([[*script, Tick(end_ms)]])
    env = StreamExecutionEnvironment()
    attach(scripted_stream(env, source))
    clock = ManualClock()
    job = local_job(env, 2, clock=clock)
    for now_ms in sorted({*source.ticks(), *range(0, end_ms, 250), *(m + SILENCE_MS for m in moments)}):
        clock.set_ms(now_ms)
        job.run_batch(1_000)
    counts = Counter(at_ms // 1_000 for at_ms in moments)
    assert sorted(job.results["counts"], key=repr) == sorted((PerSecond("s", *c) for c in counts.items()), key=repr)
    silent = [one for one, other in pairwise([*moments, end_ms]) if other - one >= SILENCE_MS]
    quiet = [one for one, other in pairwise([*moments, end_ms]) if other - one > SILENCE_MS]
    found = {outage.last_event_ms for outage in job.results["outages"]}
    assert set(quiet) <= found <= set(silent), "exactly three seconds may be noticed or not"
    assert len(found) == len(job.results["outages"])


class UntilNoticed(Events):
    """Each stretch at once; the pause lasts until the outage has been noticed."""

    def __init__(self, noticed: Path) -> None:
        super().__init__((2, 1))
        self._noticed = noticed

    def run(self, ctx: Any) -> None:
        for number, seconds in enumerate(self._stretches):
            while number and self._running and not self._noticed.exists():
                time.sleep(0.01)
            with ctx.get_checkpoint_lock():
                for _ in range(20 * seconds):
                    ctx.collect("payments")


class Noting:
    def __init__(self, noticed: Path) -> None:
        self._noticed = noticed

    def __call__(self, outage: Outage) -> Outage:
        self._noticed.touch()
        return outage


@pytest.mark.spark
def test_an_outage_is_noticed_on_spark(tmp_path: Path) -> None:
    """U18, T11: timers fire while no source delivers. The source waits for the alarm, not for a time."""
    conf = Configuration({"penstock.host": "streaming", "restart-strategy.type": "none"})
    env = StreamExecutionEnvironment(conf).set_parallelism(1)
    noticed = tmp_path / "noticed"
    events = env.add_source(UntilNoticed(noticed), "events")
    collect(per_second(events), "counts")
    collect(outages(events).map(Noting(noticed)), "outages")
    with pytest.warns(RuntimeWarning, match="cannot rewind"):
        client = env.execute_async("outage")
    client.wait()
    counts, found = (list(client.results(name)) for name in ("counts", "outages"))
    assert all(isinstance(outage, Outage) for outage in found)
    before = [count for count in counts if count.second * 1_000 <= found[0].last_event_ms]
    assert sum(count.events for count in before) == 40
    # the job ends soon after the second stretch, or, on a slow machine, after another silence
    assert len({outage.last_event_ms for outage in found}) == len(found) <= 2
    assert 40 <= sum(count.events for count in counts) <= 60
