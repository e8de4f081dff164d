"""Sinks and strategies for other records than the stream's."""

from penstock.common import Encoder, SimpleStringSchema, WatermarkStrategy
from penstock.datastream import SinkFunction
from penstock.datastream.connectors.base import Source
from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.datastream.connectors.file_system import FileSink
from tests.typing.records import Order, Payment, env, orders


class Show(SinkFunction[Payment]):
    def invoke(self, value: Payment, context: SinkFunction.Context) -> None:
        print(value)


lines = FileSink.for_row_format("/out", Encoder.schema_encoder(SimpleStringSchema())).build()
# E: arg-type reportArgumentType
orders.sink_to(lines)
# E: arg-type reportArgumentType
orders.sink_to(Show())
# E: arg-type reportArgumentType
orders.add_sink(Show())
# E: arg-type reportArgumentType
orders.assign_timestamps_and_watermarks(WatermarkStrategy[Payment].for_monotonous_timestamps())
# E: attr-defined reportAttributeAccessIssue
WatermarkStrategy[Order].for_monotonous_timestamps().with_timestamp_assigner(lambda order, _: order.at)
# E: arg-type reportAssignmentType
source: Source[Payment] = DataGeneratorSource(lambda i: Order("ann", i, i))
# E: attr-defined reportAttributeAccessIssue
env.from_sequence(1, 3).map(lambda number: number.upper())
for order in orders.execute_and_collect():
    # E: attr-defined reportAttributeAccessIssue
    order.price
