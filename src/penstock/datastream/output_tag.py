"""Public names on PyFlink's path `pyflink.datastream.output_tag`."""

from penstock.core.program.output_tag import OutputTag

__all__ = ["OutputTag"]
