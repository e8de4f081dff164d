"""Public names on PyFlink's path `pyflink.datastream.data_stream`."""

from penstock.api.collect import CloseableIterator
from penstock.api.data_stream import DataStream, DataStreamSink, KeyedStream

__all__ = ["CloseableIterator", "DataStream", "DataStreamSink", "KeyedStream"]
