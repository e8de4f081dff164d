"""Public names on PyFlink's path `pyflink.common.types`."""

from penstock.core.types.row import Row, RowKind

__all__ = ["Row", "RowKind"]
