"""Flink's stateful stream processing for Python, on Apache Spark."""

from penstock import moved as moved
from penstock._version import __version__

__all__ = ["__version__"]
