"""The table of hosts, and which of them runs a job."""

from __future__ import annotations

from penstock.core.config import Configuration
from penstock.core.config.known_settings import with_newest_names
from penstock.core.config.options.checkpoints import CHECKPOINT_DIR, CHECKPOINT_INTERVAL, SAVEPOINT_PATH
from penstock.core.config.options.job import HOST, RUNTIME_MODE
from penstock.core.config.recovery import Recovery
from penstock.core.config.table import check_settings
from penstock.core.errors import ConfigurationError, ProgramError
from penstock.core.program.specs import SourceSpec
from penstock.graph.stream_graph import StreamGraph, StreamNode
from penstock.jobs.host import Host, JobNeeds
from penstock.local.host import LocalHost
from penstock.spark.hosts import BoundedHost, StreamingHost

__all__ = ["HOSTS", "check_host", "choose_host", "find_host", "host_names", "is_batch", "job_needs"]

HOSTS: dict[str, Host] = {host.name: host for host in (LocalHost(), BoundedHost(), StreamingHost())}
"""Every host by its name. A job that names no host runs on the first automatic one that meets its needs."""

AUTOMATIC = HOST.default


def host_names() -> tuple[str, ...]:
    """The names of all hosts, in the order of the table; the choices of `--host`."""
    return tuple(HOSTS)


def find_host(name: str) -> Host:
    """The host of a name; ConfigurationError if there is none."""
    if name not in HOSTS:
        raise ConfigurationError(f"{HOST.key} must be one of {', '.join((AUTOMATIC, *HOSTS))}, got {name!r}")
    return HOSTS[name]


def asked_host(conf: Configuration) -> Host | None:
    """The host that the settings name; None if it is to be chosen."""
    name = conf.get(HOST)
    return None if name == AUTOMATIC else find_host(name)


def choose_host(graph: StreamGraph, conf: Configuration) -> str:
    """The name of the host that runs a program: the one that is asked for, else the first that meets its needs."""
    check_settings(conf)
    conf = with_newest_names(conf)
    asked = asked_host(conf)
    if asked is not None:
        return asked.name
    needs = job_needs(graph, conf)
    return next(host.name for host in HOSTS.values() if host.capabilities.automatic and needs.met_by(host))


def job_needs(graph: StreamGraph, conf: Configuration) -> JobNeeds:
    """What a program with these settings needs of its host.

    A job in BATCH mode runs from its beginning to its end: that a checkpoint is set up does not make it durable.
    """
    batch, savepoint = is_batch(graph, conf), bool(Recovery.of(conf).savepoint)
    durable = savepoint or any(conf.contains_key(option.key) for option in (CHECKPOINT_DIR, CHECKPOINT_INTERVAL))
    return JobNeeds(batch, bool(_endless(graph)), durable and not batch, savepoint)


def check_host(host: Host, needs: JobNeeds) -> None:
    """Refuse a host that cannot run the job as it is set up; the message says what to change."""
    if needs.batch and not host.capabilities.batch:
        able = " or ".join(h.name for h in HOSTS.values() if h.capabilities.automatic and h.capabilities.batch)
        raise ConfigurationError(
            f"{RUNTIME_MODE.key} BATCH runs on the {able} host: do not set {HOST.key} to {host.name}"
        )
    if needs.savepoints and not host.capabilities.savepoints:
        raise ConfigurationError(
            f"{SAVEPOINT_PATH.key} starts a job from a savepoint, which the {host.name} host cannot: "
            f"it keeps no state. Do not set {HOST.key} to {host.name}, nor run in BATCH mode"
        )


def is_batch(graph: StreamGraph, conf: Configuration) -> bool:
    """Whether the job runs in BATCH mode: asked for, or AUTOMATIC and all sources are bounded."""
    mode = conf.get(RUNTIME_MODE)
    endless = _endless(graph)
    if mode == "BATCH" and endless:
        names = ", ".join(f"'{node.name}'" for node in endless)
        raise ProgramError(f"BATCH mode needs bounded sources, but {names} never ends: use STREAMING or AUTOMATIC")
    return mode == "BATCH" or (mode == "AUTOMATIC" and not endless)


def _endless(graph: StreamGraph) -> list[StreamNode]:
    """The sources that never end."""
    return [node for node in graph.nodes if isinstance(node.spec, SourceSpec) and not node.spec.source.bounded]
