"""Sources say what they emit, sinks what they take."""

from typing import assert_type

from penstock.common import Encoder, Row, SimpleStringSchema, WatermarkStrategy
from penstock.datastream import DataStream, DataStreamSink, SinkFunction, SinkWriter, SourceFunction
from penstock.datastream.connectors.base import Sink, Source
from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.datastream.connectors.file_system import FileSink, FileSource, StreamFormat
from penstock.datastream.connectors.hybrid_source import HybridSource
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.datastream.functions import SourceContext
from tests.typing.records import Order, Payment, Refund, env, orders, payments, refunds


class Countdown(SourceFunction[int]):
    def run(self, ctx: SourceContext[int]) -> None:
        ctx.collect(3)

    def cancel(self) -> None: ...


class PaymentWriter(SinkWriter[Payment]):
    def write(self, value: Payment, timestamp: int | None) -> None:
        value.cents.bit_length()


class Payments(Sink[Payment]):
    def create_writer(self, context: object) -> SinkWriter[Payment]:
        return PaymentWriter()


class Show(SinkFunction[Order]):
    def invoke(self, value: Order, context: SinkFunction.Context) -> None:
        print(value.user, context.timestamp())


none = WatermarkStrategy.no_watermarks()
made = DataGeneratorSource(lambda i: Order("ann", i, i), 10)
assert_type(made, DataGeneratorSource[Order])
assert_type(env.from_source(made, none, "orders"), DataStream[Order])
assert_type(env.from_source(NumberSequenceSource(1, 3), none, "numbers"), DataStream[int])
lines = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "/in").process_static_file_set().build()
assert_type(env.from_source(lines, none, "lines"), DataStream[str])
both = HybridSource.builder(NumberSequenceSource(1, 3)).add_source(NumberSequenceSource(7, 9)).build()
assert_type(env.from_source(both, none, "both"), DataStream[int])
assert_type(env.add_source(Countdown()), DataStream[int])
assert_type(env.socket_text_stream("localhost", 9999), DataStream[str])
assert_type(env.read_text_file("/in"), DataStream[str])

source: Source[Payment] = DataGeneratorSource(lambda i: Refund("ann", i, "late"), 10)

assert_type(payments.sink_to(Payments()).name("payments").uid("payments"), DataStreamSink)
refunds.sink_to(Payments())  # a sink for a base class takes the derived ones
orders.add_sink(Show())
orders.add_sink(print)
orders.sink_to(FileSink.for_row_format("/out", Encoder.json_encoder()).build())
names = orders.map(lambda order: order.user)
names.sink_to(FileSink.for_row_format("/out", Encoder.schema_encoder(SimpleStringSchema())).build())
assert_type(SimpleStringSchema().deserialize(b"x"), str | None)
assert_type(orders.print(), DataStreamSink)
rows: DataStream[Row] = env.from_data_frame(None)
