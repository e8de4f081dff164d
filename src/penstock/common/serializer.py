"""Public names on PyFlink's path `pyflink.common.serializer`."""

from penstock.core.types.serializer import TypeSerializer, VoidNamespaceSerializer, void

__all__ = ["TypeSerializer", "VoidNamespaceSerializer", "void"]
