"""Public names on PyFlink's path `pyflink.common.time`."""

from penstock.core.time.spans import Duration, Instant, Time

__all__ = ["Duration", "Instant", "Time"]
