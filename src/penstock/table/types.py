"""Public names on PyFlink's path `pyflink.table.types`."""

from penstock.core.data_types import DataTypes

__all__ = ["DataTypes"]
