"""Public names on PyFlink's path `pyflink.common.job_id`."""

from penstock.jobs.client import JobID

__all__ = ["JobID"]
