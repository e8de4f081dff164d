"""Public names on PyFlink's path `pyflink.datastream.timerservice`."""

from penstock.core.functions.base import TimerService

__all__ = ["TimerService"]
