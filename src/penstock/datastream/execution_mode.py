"""Public names on PyFlink's path `pyflink.datastream.execution_mode`."""

from penstock.core.execution_mode import RuntimeExecutionMode

__all__ = ["RuntimeExecutionMode"]
