"""Public names on PyFlink's path `pyflink.common.job_client`."""

from penstock.jobs.client import JobClient

__all__ = ["JobClient"]
