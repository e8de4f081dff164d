"""Public names on PyFlink's path `pyflink.common.job_execution_result`."""

from penstock.jobs.client import JobExecutionResult

__all__ = ["JobExecutionResult"]
