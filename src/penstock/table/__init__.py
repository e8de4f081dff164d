"""Public names on PyFlink's path `pyflink.table`: the column types that file formats take."""

from penstock.core.data_types import DataTypes

__all__ = ["DataTypes"]
