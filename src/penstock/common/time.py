"""Public names on PyFlink's path `pyflink.common.time`."""

from penstock.core.time import Duration, Time

__all__ = ["Duration", "Time"]
