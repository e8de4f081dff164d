"""What a streaming job counts about itself (F12); without Spark."""

from penstock.spark.streaming.metrics import JobMetrics
from tests.spark.job_parts import FakeProgress, failure


def shown(metrics: JobMetrics) -> dict[str, object]:
    return metrics.snapshot([{"name": "map"}], 4)


def test_a_new_job_has_counted_nothing() -> None:
    assert shown(JobMetrics(lambda: {"clicks": 7})) == {
        "subtasks": [{"name": "map"}],
        "batch_ms": [],
        "lost_records": 4,
        "limits": {"clicks": 7},
        "restarts": 0,
        "failures": 0,
        "last_failure": "",
    }


def test_a_batch_is_timed_once_however_often_spark_reports_on_it() -> None:
    metrics = JobMetrics(dict)
    metrics.time_batch(None, 0)
    for _ in range(2):
        metrics.time_batch(FakeProgress(0, 120), 0)
    metrics.time_batch(FakeProgress(1, 80), 1)
    assert shown(metrics)["batch_ms"] == [120, 80]


def test_a_report_on_a_batch_that_has_not_run_here_is_left_out() -> None:
    """A query that is just starting still shows a report of the run before."""
    metrics = JobMetrics(dict)
    metrics.time_batch(FakeProgress(5), -1)
    assert shown(metrics)["batch_ms"] == []


def test_the_last_thousand_batches_are_kept() -> None:
    """F13: memory stays bounded."""
    metrics = JobMetrics(dict)
    for batch_id in range(1005):
        metrics.time_batch(FakeProgress(batch_id, batch_id), batch_id)
    times = shown(metrics)["batch_ms"]
    assert times == list(range(5, 1005))


def test_failures_are_counted_and_the_last_one_told() -> None:
    metrics = JobMetrics(dict)
    metrics.note_failure(failure("first"))
    metrics.note_failure(failure("second"))
    found = shown(metrics)
    assert (found["failures"], found["last_failure"]) == (2, "second")
