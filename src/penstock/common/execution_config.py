"""Public names on PyFlink's path `pyflink.common.execution_config`."""

from penstock.core.config.execution_config import ExecutionConfig

__all__ = ["ExecutionConfig"]
