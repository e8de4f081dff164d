"""The JVM of an embedded Spark is started before PySpark is there to do it."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.core.config import Configuration
from penstock.core.errors import ConfigurationError
from penstock.core.scratch import scratch_folder
from penstock.spark.startup import jvm

PORT = "PYSPARK_GATEWAY_PORT"
SECRET = "PYSPARK_GATEWAY_SECRET"


def process(code: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(PORT, raising=False)
    monkeypatch.delenv(SECRET, raising=False)
    made = tmp_path / "note"
    made.mkdir()
    return made


def test_the_address_is_there_while_pyspark_connects_and_no_longer(folder: Path) -> None:
    """A program that PYSPARK_GATEWAY_PORT is set for is one that was submitted."""
    secret = "hidden ünseen".encode()
    (folder / "address").write_bytes(struct.pack("!ii", 4711, len(secret)) + secret)
    waiting = process("input()")
    with jvm.Jvm(waiting, str(folder), {}).address():
        assert (os.environ[PORT], os.environ[SECRET]) == ("4711", "hidden ünseen")
        assert jvm.submitted()
    assert not jvm.submitted()
    assert SECRET not in os.environ
    assert not folder.exists()
    waiting.communicate(b"\n")


def test_a_jvm_that_ends_at_once_is_told(folder: Path) -> None:
    """P9"""
    with (
        pytest.raises(ConfigurationError, match="the Java process ended before it could be spoken to"),
        jvm.Jvm(process("raise SystemExit(1)"), str(folder), {}).address(),
    ):
        pass


def test_a_jvm_begun_with_other_settings_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = process("input()")
    begun = jvm.Jvm(waiting, str(folder), {"spark.driver.memory": "1g"})
    monkeypatch.setattr(jvm, "_begun", [begun])
    assert jvm.take_jvm({"spark.driver.memory": "1g"}) is begun
    monkeypatch.setattr(jvm, "_begun", [begun])
    assert jvm.take_jvm({"spark.driver.memory": "2g"}) is None
    assert waiting.wait() != 0


def test_none_is_begun_where_pyspark_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", sys)
    jvm.begin_jvm(Configuration({"spark.master": "moon"}), 2)
    assert jvm.take_jvm({}) is None


def test_a_master_that_is_none_is_refused_before_anything_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """P9"""
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    monkeypatch.delenv(PORT, raising=False)
    with pytest.raises(ConfigurationError, match="'moon' is not a Spark master"):
        jvm.begin_jvm(Configuration({"spark.master": "moon"}), 2)
    assert jvm.take_jvm({}) is None


def test_workers_of_this_machine_have_our_modules_at_hand_and_those_of_a_cluster_our_path() -> None:
    """P2"""
    here = jvm.embedded_settings({}, 2)
    assert (here["spark.master"], here["spark.python.daemon.module"]) == ("local[2]", "penstock.spark.startup.daemon")
    there = jvm.embedded_settings({"spark.master": "spark://host:7077"}, 2)
    assert "spark.python.daemon.module" not in there
    assert there["spark.executorEnv.PYTHONPATH"]


# -- alone on this machine -----------------------------------------------------------------------------------------


def test_a_spark_of_this_machine_is_bound_to_loopback_unless_said_otherwise() -> None:
    """P2: nobody reaches it from outside; its files are in the folder of this process."""
    found = jvm.embedded_settings({}, 2)
    assert (found["spark.driver.host"], found["spark.driver.bindAddress"]) == ("127.0.0.1", "127.0.0.1")
    assert found["spark.local.dir"] == scratch_folder()
    given = {"spark.driver.host": "10.0.0.1", "spark.driver.bindAddress": "0.0.0.0", "spark.local.dir": "/data"}
    assert jvm.embedded_settings(given, 2).items() >= given.items()


def test_the_driver_of_a_cluster_is_reached_by_its_executors() -> None:
    """P2"""
    found = jvm.embedded_settings({"spark.master": "spark://host:7077"}, 2)
    assert not found.keys() & {"spark.driver.host", "spark.driver.bindAddress", "spark.local.dir"}


def test_the_environment_of_a_jvm_is_not_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    monkeypatch.setenv("TMPDIR", "/before")
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Xss1m")
    with jvm.launching({"spark.master": "local[2]"}):
        assert (os.environ["SPARK_LOCAL_IP"], os.environ["TMPDIR"]) == ("127.0.0.1", scratch_folder())
        assert os.environ["SPARK_SUBMIT_OPTS"] == f'-Xss1m "-Djava.io.tmpdir={scratch_folder()}"'
    assert (os.environ["TMPDIR"], os.environ["SPARK_SUBMIT_OPTS"]) == ("/before", "-Xss1m")
    assert "SPARK_LOCAL_IP" not in os.environ
    with jvm.launching({"spark.master": "spark://host:7077"}):
        assert os.environ["TMPDIR"] == "/before"
