"""Public names on PyFlink's path `pyflink.common.io`."""

from penstock.connectors.formats.files import InputFormat

__all__ = ["InputFormat"]
