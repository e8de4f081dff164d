"""Public names on PyFlink's path `pyflink.datastream.async_data_stream`."""

from penstock.api.async_data_stream import AsyncDataStream

__all__ = ["AsyncDataStream"]
