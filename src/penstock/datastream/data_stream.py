"""Public names on PyFlink's path `pyflink.datastream.data_stream`."""

from penstock.api.cached import CachedDataStream
from penstock.api.collect import CloseableIterator
from penstock.api.connected import BroadcastConnectedStream, BroadcastStream, ConnectedStreams
from penstock.api.data_stream import DataStream, DataStreamSink
from penstock.api.keyed_stream import KeyedStream
from penstock.api.windowed_stream import AllWindowedStream, WindowedStream

__all__ = [
    "AllWindowedStream",
    "BroadcastConnectedStream",
    "BroadcastStream",
    "CachedDataStream",
    "CloseableIterator",
    "ConnectedStreams",
    "DataStream",
    "DataStreamSink",
    "KeyedStream",
    "WindowedStream",
]
