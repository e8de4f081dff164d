"""What a program holds of its job: the result, and Ctrl-C (P8)."""

from __future__ import annotations

import _thread
import threading
from typing import Any

from penstock.common import Configuration, JobStatus
from penstock.datastream import StreamExecutionEnvironment
from penstock.jobs.client import JobExecutionResult

RESULT = JobExecutionResult("words", "5f1a", 1200, 3, 1, {"subtasks": [{"name": "x" * 1_000}] * 100}, {"seen": 7})


def test_a_result_is_told_in_a_line() -> None:
    """P8: metrics are asked for by name."""
    assert str(RESULT) == "Job 'words' (5f1a) ran for 1200 ms in 3 batches, 1 restart(s)"
    assert repr(RESULT) == (
        "JobExecutionResult(job_name='words', job_id='5f1a', net_runtime_ms=1200, batches=3, restarts=1, "
        "accumulators={'seen': 7})"
    )
    assert str(JobExecutionResult("words", "5f1a", 5, 1)) == "Job 'words' (5f1a) ran for 5 ms in 1 batch"
    assert len(RESULT.metrics["subtasks"]) == 100


def _interrupt(value: Any) -> Any:
    if value == 1:
        _thread.interrupt_main()
        threading.Event().wait(0.05)
    return value


def test_ctrl_c_cancels_a_job_of_the_local_host() -> None:
    """P8: as on Spark, execute() returns and the job is CANCELED."""
    env = StreamExecutionEnvironment(Configuration({"penstock.host": "local"})).set_parallelism(1)
    env.from_collection(range(100)).map(_interrupt).add_sink(lambda v: None)
    client = env.execute_async("words")
    result = client.wait()
    assert client.status is JobStatus.CANCELED
    assert result.job_name == "words"
