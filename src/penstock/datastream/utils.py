"""Public names on PyFlink's path `pyflink.datastream.utils`."""

from penstock.core.types.type_info import ResultTypeQueryable

__all__ = ["ResultTypeQueryable"]
