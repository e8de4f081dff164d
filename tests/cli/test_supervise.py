"""A driver that dies is brought back (F10), without a JVM."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from penstock.core.config import Configuration
from penstock.core.time.clock import ManualClock
from penstock.jobs.restart import restart_strategy
from penstock.jobs.supervisor import SETTLED_MS, Supervisor


class PausingClock(ManualClock):
    def sleep_ms(self, delay_ms: float) -> None:
        self.advance_ms(int(delay_ms))


def watch(codes: list[int], lived_ms: int = 5, **conf: str) -> tuple[int, list[str], int]:
    """Exit code, what was said, and when it ended."""
    clock, said, left = PausingClock(), list[str](), iter(codes)

    def drive() -> int:
        clock.advance_ms(lived_ms)
        return next(left)

    settings = Configuration({f"restart-strategy.{key.replace('_', '-')}": value for key, value in conf.items()})
    code = Supervisor(drive, restart_strategy(settings), clock, said.append).run()
    assert list(left) == []
    return code, said, clock.now_ms()


def test_it_brings_the_driver_back_until_it_ends() -> None:
    """F10, F3"""
    code, said, ended_ms = watch([-9, -11, 1, 0])
    assert code == 0
    assert [line.split(". ")[0] for line in said] == [
        "The driver was ended by signal 9",
        "The driver was ended by signal 11",
        "The driver failed (exit code 1)",
    ]
    assert ended_ms == 4 * 5 + 3 * 1000


@pytest.mark.parametrize("code", [0, 130])
def test_a_driver_that_has_ended_or_was_told_to_stop_stays_away(code: int) -> None:
    """F10, P8"""
    assert watch([code])[:2] == (code, [])


def test_a_driver_that_dies_on_every_try_is_given_up() -> None:
    """F3: the last exit code is the supervisor's."""
    code, said, _ = watch([1, 1, 1, -9])
    assert code == -9
    assert said[-1] == "The driver was ended by signal 9. The restart strategy gives up after 3 restart(s)"


def test_one_that_has_lived_for_long_has_all_its_restarts_again() -> None:
    """F3, F10"""
    assert watch([-9] * 10 + [0], lived_ms=SETTLED_MS)[0] == 0


def test_it_takes_the_restart_strategy_of_the_settings() -> None:
    """F3"""
    assert watch([1], type="none")[0] == 1
    conf = {"type": "exponential-delay", "exponential_delay.initial_backoff": "100"}
    code, _, ended_ms = watch([1, 1, 1, 0], **conf, **{"exponential_delay.jitter_factor": "0"})
    assert (code, ended_ms) == (0, 4 * 5 + 100 + 150 + 225)


# -- real processes --------------------------------------------------------------------------------


FRAGILE = """
    import os, signal, sys
    from pathlib import Path
    from penstock.datastream import StreamExecutionEnvironment

    tries = Path(sys.argv[1])
    tries.write_text(tries.read_text() + "x" if tries.exists() else "x")
    if len(tries.read_text()) < int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([env.get_parallelism()]).print()
    env.execute("fragile")
"""


def supervised(folder: Path, text: str, *args: str) -> subprocess.Popen[str]:
    (folder / "job.py").write_text(dedent(text))
    conf = ("--conf", "restart-strategy.type=fixed-delay", "--conf", "restart-strategy.fixed-delay.delay=0")
    command = [sys.executable, "-m", "penstock.cli", "run", "--supervise", "--host", "local", "-p", "3", *conf]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*command, str(folder / "job.py"), *args], text=True, start_new_session=True, **pipes)


@pytest.mark.process
def test_a_killed_driver_comes_back_with_its_settings_and_arguments(tmp_path: Path) -> None:
    """F10"""
    process = supervised(tmp_path, FRAGILE, str(tmp_path / "tries"), "2")
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert out.strip().endswith("> 3")
    assert "The driver was ended by signal 9. Restart 1 in 0 ms" in err
    assert "--supervise without --checkpoint" in err


@pytest.mark.process
def test_one_that_is_killed_again_and_again_ends_the_command(tmp_path: Path) -> None:
    """F3"""
    process = supervised(tmp_path, FRAGILE, str(tmp_path / "tries"), "9")
    _, err = process.communicate()
    assert process.returncode == 128 + signal.SIGKILL
    assert (tmp_path / "tries").read_text() == "xx"
    assert "gives up after 1 restart(s)" in err


ENDLESS = """
    from penstock.common import WatermarkStrategy
    from penstock.datastream import StreamExecutionEnvironment
    from penstock.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy

    env = StreamExecutionEnvironment.get_execution_environment()
    source = DataGeneratorSource(lambda i: i, None, RateLimiterStrategy.per_second(50))
    env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").print()
    env.execute("endless")
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.process
def test_a_signal_to_the_supervisor_stops_the_job_for_good(tmp_path: Path, number: int, code: int) -> None:
    """F10, P8"""
    process = supervised(tmp_path, ENDLESS)
    assert process.stdout is not None
    process.stdout.readline()
    os.kill(process.pid, number)
    _, err = process.communicate()
    assert process.returncode == code
    assert "Restart" not in err
