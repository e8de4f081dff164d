"""Public names on PyFlink's path `pyflink.datastream.time_domain`."""

from penstock.core.functions.base import TimeDomain

__all__ = ["TimeDomain"]
