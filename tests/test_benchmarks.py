"""The programs that are measured answer rightly, without Spark: held against the loops that all peers are held to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from benchmarks import events, plots, report
from benchmarks.events import AS_THEY_COME, JOIN, LOGINS, SESSIONS, SLIDING, TUMBLING, WORDS
from benchmarks.jobs import files as job_files
from benchmarks.jobs.registry import JOBS
from benchmarks.model import Job, Outcome, Ref, Requirement, Trial
from benchmarks.nexmark.oracle import LOOPS
from benchmarks.peers.penstock_events import PROGRAMS
from benchmarks.peers.registry import PEERS
from benchmarks.schedule import Measured
from penstock.datastream import StreamExecutionEnvironment
from penstock.testing import collect, local_job
from tests.effort import some

SIZES = {
    TUMBLING: 13_000,
    SLIDING: 20_000,
    SESSIONS: 8_000,
    JOIN: 20_000,
    LOGINS: 20_000,
    AS_THEY_COME: 20_000,
    WORDS: 500,
}


def answered(what: str, records: int, batches: Sequence[int], parallelism: int) -> Any:
    env = StreamExecutionEnvironment()
    collect(PROGRAMS[what](env, records), "found")
    job = local_job(env, parallelism)
    job.run(batches)
    return events.answer_of(job.results.get("found", ()), events.cut_of(what, records))


@pytest.mark.parametrize("what", some(list(SIZES), 3))
def test_event_time_jobs(what: str) -> None:
    """W1, W4, W8, C2: windows, an interval join and a pattern over thousands of keys."""
    found = answered(what, SIZES[what], [3_000, 5_000], 2)
    assert found == events.expected(what, SIZES[what])
    assert found.emitted > 5


@pytest.mark.parametrize("query", some(list(LOOPS), 3))
def test_nexmark(query: str) -> None:
    """P4: each query, in batches of different sizes, on two subtasks."""
    found = answered(query, 25_000, [1_000, 9_000], 2)
    assert found == events.expected(query, 25_000)
    assert found.emitted > 0


def test_every_job_is_made_of_known_peers() -> None:
    for job in JOBS.values():
        for trials in (job.trials(True), job.trials(False)):
            known = {(t.case, t.peer) for t in trials}
            assert len(known) == len(trials)
            assert {t.peer for t in trials} <= set(PEERS)
        for wanted in job.requirements:
            assert (wanted.top.case, wanted.top.peer) in known
            assert {(ref.case, ref.peer) for ref in wanted.bottoms} & known


def test_the_files_are_larger_than_a_gigabyte() -> None:
    from benchmarks.files import LINES

    for kind, records in job_files.RECORDS.items():
        assert len(LINES[kind](records // 2)) * records > 1.05e9


def test_a_record_can_be_drawn() -> None:
    found = {"records_per_s": {"median": 120.0, "low": 90.0, "high": 130.0}}
    record = {
        "title": "A <job>",
        "metric": "records_per_s",
        "quick": True,
        "machine": {"cores": 2},
        "results": [{"case": "one", "peer": "penstock", "metrics": found}, {"case": "one", "peer": "x", "metrics": {}}],
    }
    picture = plots.svg(record)
    assert picture is not None
    assert "A &lt;job&gt;" in picture
    assert picture.count("<rect") == 2
    assert plots.svg({**record, "results": []}) is None


def measured(case: str, peer: str, *rates: float) -> Measured:
    return Measured(Trial(case, peer, {}), [Outcome({"rate": rate}) for rate in rates])


def test_a_case_measured_alone_replaces_that_case_in_the_record() -> None:
    """The other cases stay as they were measured, with their date; requirements are judged on all of them."""
    pairs = [("small", "penstock"), ("small", "loop"), ("large", "penstock"), ("large", "loop")]
    wanted = [
        Requirement(case, Ref(case, "penstock", "rate"), (Ref(case, "loop", "rate"),), 2, at_least=True)
        for case in ("small", "large")
    ]
    job = Job("j", "A job", "rate", lambda _: [Trial(*pair, {}) for pair in pairs], tuple(wanted))
    machine = {"date": "Monday", "load_before": 0.1, "cores": 2, "memory_gb": 1, "processor": "x", "python": "3"}
    before = [measured(*pair, 10, 10, 10) for pair in pairs]
    kept = report.record_of(job, before, machine, False)
    assert [r["verdict"] for r in kept["requirements"]] == ["NOT MET", "NOT MET"]

    again = [measured("large", "penstock", 30, 20, 10), measured("large", "loop", 10, 5, 5)]
    record = report.record_of(job, again, {**machine, "date": "Tuesday", "load_before": 0.2}, False, kept)
    assert [(r["case"], r["peer"]) for r in record["results"]] == pairs
    assert [r["when"]["date"] for r in record["results"]] == ["Monday", "Monday", "Tuesday", "Tuesday"]
    assert [r["verdict"] for r in record["requirements"]] == ["NOT MET", "met"]
    assert record["results"][3]["penstock_to_this"] == {"median": 4.0, "low": 2.0, "high": 4.0}
    assert "Monday – Tuesday" in report.markdown(record)
