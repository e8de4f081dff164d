"""The command line on Spark, as a process of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner

from penstock.cli import main
from tests.effort import HANG_S

pytestmark = pytest.mark.spark

JOB = """
    import sys
    from dataclasses import dataclass
    from penstock.common import WatermarkStrategy
    from penstock.datastream import StreamExecutionEnvironment
    from penstock.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy

    @dataclass
    class Seen:
        number: int

    env = StreamExecutionEnvironment.get_execution_environment()
    rate = RateLimiterStrategy.per_second(50)
    source = DataGeneratorSource(lambda i: Seen(i), rate_limiter_strategy=rate)
    env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").print()
    env.execute("numbers")
    print("went on")
"""


def _penstock(*args: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "penstock.cli", *args]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, start_new_session=True, **pipes)


def _run_and_end(
    job: Path, checkpoint: Path, end: Callable[[subprocess.Popen[str]], None]
) -> tuple[int, str, list[int]]:
    """Exit code, what was said on standard error, and the numbers printed until the job was ended."""
    process = _penstock("run", str(job), "-p", "1", "--checkpoint", str(checkpoint), "--host", "streaming")
    assert process.stdout is not None
    assert process.stderr is not None
    too_long = threading.Timer(HANG_S, os.killpg, (process.pid, signal.SIGKILL))
    too_long.start()
    # not communicate(): it would forget what readline() has read ahead
    first = process.stdout.readline()
    end(process)
    rest, err = process.stdout.read(), process.stderr.read()
    process.wait()
    too_long.cancel()
    assert rest.endswith("went on\n"), err
    return process.returncode, err, [int(n) for n in re.findall(r"Seen\(number=(\d+)\)", first + rest)]


def _ctrl_c(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)


def _cancel(process: subprocess.Popen[str]) -> None:
    listed = json.loads(CliRunner().invoke(main, ["list", "--json"]).stdout)
    assert [(job["name"], job["pid"], job["status"]) for job in listed] == [("numbers", process.pid, "RUNNING")]
    canceled = CliRunner().invoke(main, ["cancel", "numbers", "--wait"])
    assert canceled.stdout.startswith(f"Canceled 'numbers' ({listed[0]['job_id'][:8]}). Started again, it goes on from")


def test_ctrl_c_and_cancel_stop_cleanly_and_the_checkpoint_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P2, P7, P8, P10, F1: no number twice, none missing over a stop; the script's classes reach the workers."""
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    job = tmp_path / "job.py"
    job.write_text(dedent(JOB))
    code, said, numbers = _run_and_end(job, tmp_path / "checkpoint", _ctrl_c)
    assert (code, said) == (130, "Stopped.\n")
    code, said, more = _run_and_end(job, tmp_path / "checkpoint", _cancel)
    assert (code, said) == (0, "Another process asks to cancel the job: it ends between two batches.\n")
    assert numbers + more == list(range(len(numbers + more)))
    assert more
    assert CliRunner().invoke(main, ["list"]).stdout.startswith("No job runs.")


def test_ctrl_c_cancels_a_job_of_the_bounded_host(tmp_path: Path) -> None:
    """P8: its status says so, though Spark reports tasks that were killed."""
    job, begun = tmp_path / "job.py", tmp_path / "begun"
    job.write_text(
        dedent(
            f"""
            import pathlib, time
            from penstock.datastream import StreamExecutionEnvironment

            def endless(n):
                pathlib.Path({str(begun)!r}).touch()
                while True:
                    time.sleep(0.01)

            env = StreamExecutionEnvironment.get_execution_environment()
            env.from_collection([1]).map(endless).print()
            client = env.execute_async("endless")
            client.wait()
            print(client.status.name)
            """
        )
    )
    process = _penstock("run", str(job), "--host", "bounded")
    while not begun.exists() and process.poll() is None:
        time.sleep(0.05)
    _ctrl_c(process)
    out, err = process.communicate(timeout=HANG_S)
    assert (process.returncode, out, err) == (130, "CANCELED\n", "Stopped.\n")


def test_a_failing_function_on_the_bounded_host(tmp_path: Path) -> None:
    """P9: the user's traceback, nothing of the JVM's."""
    job = tmp_path / "job.py"
    job.write_text(
        dedent(
            """
            from penstock.datastream import StreamExecutionEnvironment
            env = StreamExecutionEnvironment.get_execution_environment()
            env.from_collection([5, 0]).map(lambda n: 10 // n).name("halve").uid("h").print()
            env.execute()
            """
        )
    )
    process = _penstock("run", str(job))
    out, err = process.communicate()
    assert (process.returncode, out) == (1, "")
    assert "operator 'halve' (uid h) failed on record 0" in err
    assert err.endswith("ZeroDivisionError: integer division or modulo by zero\n")
    assert "java" not in err
    assert "py4j" not in err


def test_the_doctor_tries_spark() -> None:
    """P2: an embedded Spark starts and runs a job."""
    process = _penstock("doctor", "--start-spark")
    out, err = process.communicate()
    assert process.returncode == 0, out + err
    assert re.search(r"Spark +4\.3\.\d+ started and ran a job in \d+\.\d s", out)


def test_a_master_that_is_none_ends_with_a_message(tmp_path: Path) -> None:
    """P9"""
    job = tmp_path / "job.py"
    job.write_text(dedent(JOB))
    process = _penstock("run", str(job), "--master", "local[moon]")
    _, err = process.communicate()
    assert process.returncode == 1
    assert err.startswith("Error: Spark could not be started on local[moon]: ")
    assert "Could not parse Master URL: 'local[moon]'" in err
    assert "Traceback" not in err
    assert "\tat " not in err


def test_a_job_that_is_still_starting_is_listed_and_canceled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """P8: it does not claim to run; the answer comes at once, the end when Spark is there."""
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    job = tmp_path / "job.py"
    job.write_text(dedent(JOB))
    process = _penstock("run", str(job), "-p", "1", "--checkpoint", str(tmp_path / "checkpoint"))
    listed: list[dict[str, object]] = []
    while not listed and process.poll() is None:
        listed = json.loads(CliRunner().invoke(main, ["list", "--json"]).stdout)
    assert [(entry["name"], entry["status"]) for entry in listed] == [("numbers", "CREATED")]
    said = CliRunner().invoke(main, ["cancel", "numbers"]).stdout
    assert said.startswith(f"Canceling 'numbers' ({str(listed[0]['job_id'])[:8]}): it ends as soon as")
    out, err = process.communicate(timeout=HANG_S)
    assert (process.returncode, err) == (0, "Another process asks to cancel the job: it ends between two batches.\n")
    assert out.endswith("went on\n")
