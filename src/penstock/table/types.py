"""Public names on PyFlink's path `pyflink.table.types`."""

from penstock.core.types.data_types import DataTypes

__all__ = ["DataTypes"]
