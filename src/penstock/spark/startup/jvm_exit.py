"""The end of Spark's JVM: noticed behind other errors, named in the message, and made room for a new JVM."""

from __future__ import annotations

import signal
import socket
import subprocess
from dataclasses import dataclass

from py4j.java_gateway import GatewayClient, JavaGateway
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from penstock.core.config.options.tuning import BATCH_MAX_RECORDS
from penstock.core.errors import SparkDiedError

__all__ = ["forget_dead_jvm", "jvm_exit_behind", "note_jvm"]

_OUT_OF_MEMORY = 52
"""The exit code with which Spark ends its process when the memory of Java is exhausted."""
_PATIENCE_S = 10.0


@dataclass(frozen=True, slots=True)
class _Jvm:
    """What was learned about a JVM while it could still be asked."""

    gateway: JavaGateway
    memory: str

    @property
    def process(self) -> subprocess.Popen[bytes] | None:
        """The JVM's process; None if another process has started it."""
        found: subprocess.Popen[bytes] | None = self.gateway.proc
        return found


_KNOWN: dict[GatewayClient, _Jvm] = {}
"""JVMs that sessions of this process are connected to, by their connection."""


def note_jvm(spark: SparkSession) -> None:
    """Remember the JVM behind a session, so that its end can be explained; called for each new session."""
    gateway = SparkContext._gateway
    _KNOWN.setdefault(_connection(spark), _Jvm(gateway, str(spark.conf.get("spark.driver.memory", "1g"))))


def jvm_exit_behind(error: BaseException, spark: SparkSession) -> SparkDiedError | None:
    """The error to raise instead if the JVM has ended and `error` came from that; None if the JVM lives.

    Called by hosts for each failure. Waits a few seconds: a connection breaks a moment before the process has ended.
    """
    jvm = _KNOWN.get(_connection(spark))
    if jvm is None or not (_is_about_connection(error) or _ended(jvm.process)):
        return None
    if jvm.process is None:
        return None if _answers(jvm.gateway) else SparkDiedError(_message("It does not answer any more", jvm.memory))
    try:
        code = jvm.process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        return None
    return SparkDiedError(_message(f"Process {jvm.process.pid} {_end(code)}", jvm.memory))


def forget_dead_jvm() -> None:
    """Let PySpark start another JVM if the one of this process has died; called before a session is made."""
    gateway = SparkContext._gateway
    if gateway is None or not _ended(gateway.proc):
        return
    gateway.shutdown()
    SparkContext._active_spark_context = None
    SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


def _connection(spark: SparkSession) -> GatewayClient:
    return spark._jsparkSession._gateway_client


def _is_about_connection(error: BaseException) -> bool:
    """Whether the JVM may be gone: it did not answer, or its answer broke off."""
    if isinstance(error, (EOFError, ConnectionError, Py4JNetworkError)):
        return True
    return isinstance(error, Py4JError) and not hasattr(error, "java_exception")


def _ended(process: subprocess.Popen[bytes] | None) -> bool:
    return process is not None and process.poll() is not None


def _answers(gateway: JavaGateway) -> bool:
    parameters = gateway.gateway_parameters
    try:
        socket.create_connection((parameters.address, parameters.port), _PATIENCE_S).close()
    except OSError:
        return False
    return True


def _end(code: int) -> str:
    if code == _OUT_OF_MEMORY:
        return "ended because its memory was exhausted"
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        hint = ", as the system does when memory runs out" if -code == signal.SIGKILL else ""
        return f"was ended by signal {name}{hint}"
    return f"ended with exit code {code}"


def _message(what: str, memory: str) -> str:
    return (
        f"The Java process of Spark has died. {what}. It may use {memory} of memory (spark.driver.memory).\n"
        "If records or state are large, give it more (--conf spark.driver.memory=4g), or let a batch read less "
        f"({BATCH_MAX_RECORDS.key}). A job with a checkpoint folder goes on from there when it is started again; "
        "the next job of this process gets a new Java process"
    )
