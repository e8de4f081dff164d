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

from penstock.core.job import RuntimeSettings
from penstock.runtime.codec import decode, loads
from penstock.savepoint.folder import Savepoint
from penstock.testing import LocalJob, ManualClock, local_job
from tests.properties.programs import Event, expect_counted, expect_summed
from tests.properties.test_same_results import inputs, runtime_settings
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


@settings(max_examples=20, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink])
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
