"""Public names on PyFlink's path `pyflink.datastream.connectors.number_seq`."""

from penstock.connectors.sequences import NumberSequenceSource

__all__ = ["NumberSequenceSource"]
