"""Public names on PyFlink's path `pyflink.datastream.connectors.base`."""

from penstock.core.sink import DeliveryGuarantee, Sink
from penstock.core.source import Source

__all__ = ["DeliveryGuarantee", "Sink", "Source"]
