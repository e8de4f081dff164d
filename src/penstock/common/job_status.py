"""Public names on PyFlink's path `pyflink.common.job_status`."""

from penstock.jobs.client import JobStatus

__all__ = ["JobStatus"]
