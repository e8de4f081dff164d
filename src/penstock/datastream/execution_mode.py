"""Public names on PyFlink's path `pyflink.datastream.execution_mode`."""

from penstock.core.program.execution_mode import RuntimeExecutionMode

__all__ = ["RuntimeExecutionMode"]
