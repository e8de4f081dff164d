"""Public names on PyFlink's path `pyflink.common.typeinfo`."""

from penstock.core.types import RowTypeInfo, TypeInformation, Types

__all__ = ["RowTypeInfo", "TypeInformation", "Types"]
