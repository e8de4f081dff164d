"""Public names on PyFlink's path `pyflink.datastream.stream_execution_environment`."""

from penstock.api.environment import StreamExecutionEnvironment

__all__ = ["StreamExecutionEnvironment"]
