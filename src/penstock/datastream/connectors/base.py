"""Public names on PyFlink's path `pyflink.datastream.connectors.base`."""

from penstock.core.contracts.sink import DeliveryGuarantee, Sink
from penstock.core.contracts.source import Lag, Source
from penstock.core.contracts.starting_offsets import StartingOffsets

__all__ = ["DeliveryGuarantee", "Lag", "Sink", "Source", "StartingOffsets"]
