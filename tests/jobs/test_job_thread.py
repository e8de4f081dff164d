"""The thread a job runs in; no JVM is needed for it."""

import os
import signal
import threading

import pytest

from penstock.jobs.job_thread import JobThread


class _Job:
    """Runs until it is told to stop, and then until it may end."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self.may_end = threading.Event()
        self.ended = False
        self.thread = JobThread(self._run, "a job")

    def _run(self) -> None:
        self.stopping.wait()
        self.may_end.wait()
        self.ended = True

    def stop(self) -> None:
        self.stopping.set()
        threading.Timer(0.3, self.may_end.set).start()


def _interrupt_soon() -> None:
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()


def test_ctrl_c_waits_until_the_job_has_stopped() -> None:
    """P8: after Ctrl-C nothing goes on before the job has ended."""
    job = _Job()
    _interrupt_soon()
    job.thread.join_or_stop(job.stop)
    assert job.ended


def test_a_second_ctrl_c_gives_up_waiting() -> None:
    """P8: a job that does not stop can be left."""
    job = _Job()
    _interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        job.thread.join_or_stop(_interrupt_soon)
    assert not job.ended
    job.stop()
    job.thread.join()
    assert job.ended
