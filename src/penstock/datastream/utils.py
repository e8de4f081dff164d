"""Public names on PyFlink's path `pyflink.datastream.utils`."""

from penstock.core.types import ResultTypeQueryable

__all__ = ["ResultTypeQueryable"]
