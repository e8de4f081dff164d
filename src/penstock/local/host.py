"""The local host, as the table of hosts has it."""

from __future__ import annotations

import sys

from penstock.core.config import Configuration
from penstock.core.config.compat import warn_once
from penstock.core.config.recovery import Recovery
from penstock.core.program.dependencies import PythonDependencies
from penstock.core.program.job import JobPlan
from penstock.jobs.client import JobClient
from penstock.jobs.host import HostCapabilities

__all__ = ["LocalHost"]


class LocalHost:
    """Runs a job in this process, without a JVM, in the thread that waits for it.

    It keeps nothing when the process ends, and only this process knows of its jobs.
    """

    name = "local"
    capabilities = HostCapabilities(batch=True, unbounded=True, savepoints=True)

    def start(self, plan: JobPlan, conf: Configuration, job_id: str) -> JobClient:
        """A client that runs the job when it is waited for. The job's id is `local`: no other process asks for it."""
        from penstock.local.client import LocalClient  # brings the whole runtime, which a job on Spark loads in workers

        return LocalClient(plan, _dependencies(conf), Recovery.of(conf))


def _dependencies(conf: Configuration) -> PythonDependencies:
    found = PythonDependencies.of(conf)
    if found.executable not in (None, sys.executable):
        warn_once("StreamExecutionEnvironment.set_python_executable")
    return found
