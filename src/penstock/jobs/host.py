"""What a host is: an object that runs compiled jobs. `launch/hosts.py` has the table of hosts.

A new host is one class in a room of its own and one line in that table: the choice of a host, the values of
`penstock.host` and `--host`, and the refusals follow from what the class says of itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from penstock.core.config import Configuration
from penstock.core.program.job import JobPlan
from penstock.jobs.client import JobClient

__all__ = ["Host", "HostCapabilities", "JobNeeds"]


@dataclass(frozen=True, slots=True)
class HostCapabilities:
    """What a host can run, what it promises, and how its jobs are to be treated.

    `batch`: it runs jobs in BATCH mode. `unbounded`: it runs jobs whose sources never end. `durable`: it keeps a
    checkpoint, from which a job goes on after its process has died. `savepoints`: its jobs start from savepoints.
    `one_batch`: it reads the whole input at once, and plans are made for that. `automatic`: it may be chosen for a job
    that names no host. `listed`: other processes can list and cancel its jobs.
    """

    batch: bool = False
    unbounded: bool = False
    durable: bool = False
    savepoints: bool = False
    one_batch: bool = False
    automatic: bool = False
    listed: bool = False


@dataclass(frozen=True, slots=True)
class JobNeeds:
    """What a job needs of its host; the fields mean what those of `HostCapabilities` mean."""

    batch: bool = False
    unbounded: bool = False
    durable: bool = False
    savepoints: bool = False

    def met_by(self, host: Host) -> bool:
        """Whether the host may be chosen for the job.

        Savepoints are not looked at: a job that starts from one is durable, and in BATCH mode it is refused by name.
        """
        can = host.capabilities
        pairs = ((self.batch, can.batch), (self.unbounded, can.unbounded), (self.durable, can.durable))
        return all(able or not needed for needed, able in pairs)


class Host(Protocol):
    """Runs jobs.

    A host is made once, when the table of hosts is; making it must not import what only a running job needs.
    """

    @property
    def name(self) -> str:
        """What `penstock.host` and `--host` call it."""

    @property
    def capabilities(self) -> HostCapabilities: ...

    def start(self, plan: JobPlan, conf: Configuration, job_id: str) -> JobClient:
        """Start a job and return its client without waiting for the job's end.

        `launch` calls it once for each job, after it has checked the settings and compiled the plan. The plan's needs
        are within the host's capabilities. A job of a host that is `listed` is registered already under `job_id`: its
        client has the same id and unregisters it when it has been waited for. An error raised here means that the job
        has not started and has left nothing behind.
        """
