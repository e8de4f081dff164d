"""Public names on PyFlink's path `pyflink.datastream.connectors.base`."""

from penstock.core.sink import DeliveryGuarantee, Sink
from penstock.core.source import Lag, Source
from penstock.core.starting import StartingOffsets

__all__ = ["DeliveryGuarantee", "Lag", "Sink", "Source", "StartingOffsets"]
