"""The machine's clock, for those who know the api only."""

from penstock.core.clock import SystemClock

__all__ = ["SystemClock"]
