"""Public names on PyFlink's path `pyflink.common.job_id`."""

from penstock.core.client import JobID

__all__ = ["JobID"]
