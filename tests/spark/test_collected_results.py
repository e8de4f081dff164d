"""Collected records on their way to the program (P8); without Spark."""

import threading

import pytest

from penstock.spark.streaming.results import CollectedResults


@pytest.fixture
def results() -> CollectedResults:
    return CollectedResults(["out"], threading.RLock())


def read(results: CollectedResults, name: str = "out") -> list[object]:
    return list(results.read(name, on_interrupt=pytest.fail))


def test_records_come_in_the_order_in_which_batches_delivered_them(results: CollectedResults) -> None:
    results.deliver("out", [1, 2])
    results.deliver("out", [3])
    results.end()
    assert read(results) == [1, 2, 3]


def test_each_record_is_read_once(results: CollectedResults) -> None:
    results.deliver("out", [1])
    results.end()
    assert read(results) == [1]
    assert read(results) == [], "a second reader comes to the end and does not wait for ever"


def test_a_reader_gets_records_while_the_job_runs(results: CollectedResults) -> None:
    reader = results.read("out", on_interrupt=pytest.fail)
    results.deliver("out", ["early"])
    assert next(reader) == "early"
    results.end()
    assert list(reader) == []


def test_streams_do_not_mix(results: CollectedResults) -> None:
    results.deliver("out", [1])
    results.deliver("another", [2])
    results.end()
    assert (read(results), read(results, "another")) == ([1], [2])


def test_ctrl_c_stops_the_job_of_a_program_that_reads(
    results: CollectedResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P8"""
    stopped = []

    def interrupted() -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(results._queues["out"], "get", interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(results.read("out", on_interrupt=lambda: stopped.append(True)))
    assert stopped == [True]
