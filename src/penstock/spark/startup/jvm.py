"""The JVM of an embedded Spark: its options and its start.

PySpark would start the JVM itself, but only after its own import, which takes half as long as the JVM's start. So this
module starts the JVM first, and hands PySpark the connection. It imports nothing of PySpark.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from penstock.core.config import Configuration
from penstock.core.config.options.tuning import JVM_COMPILER
from penstock.core.errors import ConfigurationError
from penstock.core.scratch import scratch_folder
from penstock.spark.startup.archive import archive_option
from penstock.spark.startup.java import find_java
from penstock.spark.startup.places import pyspark_folder
from penstock.spark.startup.quiet import quiet_start
from penstock.spark.startup.settings import all_settings, checked_master, given_settings

__all__ = ["Jvm", "begin_jvm", "embedded_settings", "launching", "prepare_jvm", "submitted", "take_jvm"]

LOOPBACK = "127.0.0.1"
_LOCAL_IP, _SUBMIT_OPTS = "SPARK_LOCAL_IP", "SPARK_SUBMIT_OPTS"
_PORT, _SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"


@dataclass(frozen=True, slots=True)
class Jvm:
    """A JVM that is starting or has started. It ends when its standard input closes, that is, with this process."""

    process: subprocess.Popen[bytes]
    folder: str
    settings: dict[str, str]

    @contextmanager
    def address(self) -> Iterator[None]:
        """Wait until the JVM can be reached. Inside, its address is in the environment, where PySpark looks for it."""
        try:
            note = Path(self.folder, "address")
            while not note.exists():
                if self.process.poll() is not None:
                    raise ConfigurationError("the Java process ended before it could be spoken to")
                time.sleep(0.01)
            data = note.read_bytes()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        port, length = struct.unpack_from("!ii", data)
        os.environ[_PORT], os.environ[_SECRET] = str(port), data[8 : 8 + length].decode()
        try:
            yield
        finally:
            del os.environ[_PORT], os.environ[_SECRET]


_begun: list[Jvm] = []
"""The JVM that `begin_jvm` has started and no session has taken yet; at most one."""


def submitted() -> bool:
    """Whether the program was started by spark-submit, which brings the JVM."""
    return _PORT in os.environ


def begin_jvm(conf: Configuration, cores: int) -> None:
    """Start the JVM without waiting for it; called by `launch` before anything imports PySpark.

    Does nothing after spark-submit, which has brought the JVM, and if this process has imported PySpark: a JVM may run.
    """
    script = os.path.join(os.environ.get("SPARK_HOME") or pyspark_folder(), "bin", "spark-submit")
    if submitted() or "pyspark" in sys.modules or _begun or not os.path.isfile(script):
        return
    settings = embedded_settings(given_settings(conf), cores)
    prepare_jvm(conf)
    with launching(settings), quiet_start():
        _begun.append(_start(script, settings))


def embedded_settings(given: dict[str, str], cores: int) -> dict[str, str]:
    """All settings with which an embedded Spark is started, the program's own (`given`) among them."""
    master = checked_master(given, cores)
    if master.startswith("local"):
        own = {"spark.python.daemon.module": "penstock.spark.startup.daemon", **_at_home()}
    else:
        own = {"spark.executorEnv.PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return {**own, **all_settings(given), "spark.master": master}


def _at_home() -> dict[str, str]:
    """Settings that keep a local Spark private: it listens on loopback only, and its files belong to this user."""
    own = {"spark.driver.bindAddress": LOOPBACK, "spark.driver.host": LOOPBACK}
    if "SPARK_LOCAL_DIRS" not in os.environ:
        own["spark.local.dir"] = scratch_folder()
    return own


@contextmanager
def launching(settings: dict[str, str]) -> Iterator[None]:
    """Inside, the environment has what a local JVM and the Python workers that it starts should find there."""
    if not settings["spark.master"].startswith("local"):
        yield
        return
    own = {"TMPDIR": scratch_folder(), _LOCAL_IP: os.environ.get(_LOCAL_IP, LOOPBACK)}
    options = os.environ.get(_SUBMIT_OPTS, "")
    if "java.io.tmpdir" not in options:
        own[_SUBMIT_OPTS] = f'{options} "-Djava.io.tmpdir={scratch_folder()}"'
    before = {name: os.environ.get(name) for name in own}
    os.environ.update(own)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def take_jvm(settings: dict[str, str]) -> Jvm | None:
    """The JVM that `begin_jvm` started, if it was started with these settings; others are killed. Called once."""
    while _begun:
        jvm = _begun.pop()
        if jvm.settings == settings:
            return jvm
        jvm.process.kill()
    return None


def prepare_jvm(conf: Configuration) -> None:
    """Put the options of the driver's JVM into the environment: quiet logs, the quick compiler, a class-data archive.

    The quick compiler alone is the default, since the JVM only passes chunks on: for the first minutes the second
    compiler takes more time than it gains. Raises ConfigurationError for an unknown compiler, JavaError without a Java.
    """
    compiler = conf.get(JVM_COMPILER)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ["JAVA_HOME"] = find_java()
    options = os.environ.get(_SUBMIT_OPTS, "")
    quiet = Path(__file__).with_name("log4j2.properties")
    if "log4j2.configurationFile" not in options:
        options += f" -Dlog4j2.configurationFile={quiet}"
    if compiler == "quick" and "Tiered" not in options:
        options += " -XX:TieredStopAtLevel=1"
    if "SharedArchiveFile" not in options and "ArchiveClassesAtExit" not in options:
        options += " " + archive_option(os.environ["JAVA_HOME"])
    os.environ[_SUBMIT_OPTS] = options.strip()


def _start(script: str, settings: dict[str, str]) -> Jvm:
    """Start the JVM the way PySpark does, so that PySpark can connect to it."""
    command = [script]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    command += shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    folder = tempfile.mkdtemp(prefix="jvm-", dir=scratch_folder())
    environment = {
        **os.environ,
        "SPARK_CONNECT_MODE": "0",
        "_PYSPARK_DRIVER_CONN_INFO_PATH": os.path.join(folder, "address"),
    }
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, preexec_fn=_ignore_ctrl_c)
    return Jvm(process, folder, settings)


def _ignore_ctrl_c() -> None:
    """Called in the JVM's process before it starts: Ctrl-C is meant for the program, not for the JVM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
