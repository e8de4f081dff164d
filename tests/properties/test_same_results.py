"""P11: the same multiset for every split into batches, every parallelism, every restart, when nothing is late."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from penstock.core.program.job import RuntimeSettings
from penstock.datastream import StreamExecutionEnvironment
from penstock.runtime.state.store_keys import BlobKind, kind_of
from penstock.testing import LocalJob, ManualClock, collect, local_job
from tests.effort import examples
from tests.properties.programs import PROGRAMS, Event, sources

KEYS = st.sampled_from(["a", "b", "c", 1, 1.0, ("a", 2), None])
DELAY_MS = 15


@st.composite
def inputs(draw: st.DrawFn) -> list[Event]:
    """Records at most DELAY_MS behind the largest timestamp so far, hence never late."""
    events: list[Event] = []
    front = 0
    for key, step, lag, amount in draw(
        st.lists(st.tuples(KEYS, st.integers(0, 12), st.integers(0, DELAY_MS), st.integers(-3, 9)), max_size=40)
    ):
        front += step
        events.append(Event(key, max(0, front - lag), amount))
    return events


runtime_settings = st.builds(
    RuntimeSettings,
    chunk_records=st.sampled_from([1, 3, 8192]),
    watermark_records=st.sampled_from([1, 2, 5, 1024]),
    page_bytes=st.sampled_from([1, 200, 12 << 10]),
    state_budget_bytes=st.sampled_from([0, 500, 64 << 20]),
    sort_budget_bytes=st.sampled_from([0, 256 << 20]),
)

batches = st.lists(st.tuples(st.integers(0, 12), st.sampled_from(["commit", "commit", "lose", "restart"])), max_size=10)


def run(job: LocalJob, plan: list[tuple[int, str]]) -> None:
    """Run the planned batches, some of them thrown away or followed by a restart; then to the end."""
    for limit, fate in plan:
        if not job.finished:
            job.run_batch(limit, commit=fate != "lose")
            if fate != "commit":
                job.restart()
    job.run()


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("parallelism", [1, 2, 4])
@settings(max_examples=examples(25), deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink])
@given(
    streams=st.lists(inputs(), min_size=1, max_size=3),
    plan=batches,
    options=runtime_settings,
)
def test_batches_parallelism_and_restarts_do_not_change_results(
    name: str, parallelism: int, streams: list[list[Event]], plan: list[tuple[int, str]], options: RuntimeSettings
) -> None:
    """P11, S6, T5, F1: against a brute-force oracle, and nothing is left in state."""
    program, oracle = PROGRAMS[name]
    env = StreamExecutionEnvironment()
    collect(program(sources(env, streams, DELAY_MS)), "out")
    job = local_job(env, parallelism, settings=options, clock=ManualClock())
    run(job, plan)
    found: Counter[Any] = Counter(job.results.get("out", []))
    assert found == oracle([event for stream in streams for event in stream])
    if name != "summed":
        assert [
            key for key in job.state_blobs() if kind_of(key) is not BlobKind.OPERATOR
        ] == []  # a generator's own state may stay
