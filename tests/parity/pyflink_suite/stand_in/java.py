"""The Java classes with which PyFlink's tests make their input and hold results, as Python objects.

What a test asks of Flink itself in Java (a sink's fields, a schema's equality) is not here: that stays out of reach.
"""

from __future__ import annotations

from typing import Any

from penstock.common import Row, WatermarkStrategy
from penstock.common.watermark_strategy import Watermark, WatermarkGenerator, WatermarkOutput
from penstock.connectors.formats.schemas import DeserializationSchema, SerializationSchema
from penstock.core.types.type_info import TypeInformation
from tests.parity.pyflink_suite.stand_in import avro_files, parquet_files
from tests.parity.pyflink_suite.stand_in.reach import OutOfReach


class ArrayList(list[Any]):
    """`java.util.ArrayList`."""

    add = list.append


class HashMap(dict[Any, Any]):
    """`java.util.HashMap`."""

    def put(self, key: Any, value: Any) -> None:
        self[key] = value


class JavaRow(Row):
    """`org.apache.flink.types.Row` with a number of fields, which are null at first."""

    def __init__(self, arity: int) -> None:
        super().__init__(*[None] * arity)

    def setField(self, position: int, value: Any) -> None:
        self[position] = value

    def equals(self, other: Any) -> bool:
        return _positions(self) == _positions(other)


def _positions(value: Any) -> Any:
    """A row without the names of its fields: Penstock's schemas add those of the type, in Java a row has none."""
    return (value.get_row_kind(), *map(_positions, value)) if isinstance(value, Row) else value


class Schema:
    """The Java schema inside a schema of PyFlink: Penstock's own, which tests open and then use as it is."""

    def __init__(self, ours: Any) -> None:
        self._ours = ours

    def open(self, context: Any) -> None:
        pass

    def serialize(self, element: Any) -> Any:
        return self._ours.serialize(element)

    def deserialize(self, message: Any) -> Any:
        return self._ours.deserialize(message)

    def __getattr__(self, name: str) -> Any:
        raise OutOfReach(f"calls {name}() of a Java schema")


class EachRecord(WatermarkGenerator):
    """A watermark after each record, at its timestamp; Penstock drops those that do not advance."""

    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        output.emit_watermark(Watermark(event_timestamp))

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        pass


class PerElementWatermarkGenerator:
    """The generator of PyFlink's tests that makes them independent of a clock."""

    @staticmethod
    def getSupplier() -> type[WatermarkGenerator]:
        return EachRecord


class JavaWatermarkStrategy:
    """`org.apache.flink.api.common.eventtime.WatermarkStrategy`, for generators."""

    forGenerator = staticmethod(WatermarkStrategy.for_generator)


_GENERATORS = "org.apache.flink.streaming.api.functions.python.eventtime"

CLASSES = {
    "java.io.File": str,
    "java.util.ArrayList": ArrayList,
    "java.util.HashMap": HashMap,
    "org.apache.flink.api.common.eventtime.WatermarkStrategy": JavaWatermarkStrategy,
    "org.apache.flink.connector.testutils.formats.DummyInitializationContext": object,
    f"{_GENERATORS}.PerElementWatermarkGenerator": PerElementWatermarkGenerator,
    "org.apache.flink.types.Row": JavaRow,
    **avro_files.CLASSES,
    **parquet_files.CLASSES,
}


class Package:
    """A package, or the JVM itself: leads to the classes above. Any other name is out of reach."""

    def __init__(self, path: str = "", imports: dict[str, str] | None = None) -> None:
        self._path, self._imports = path, imports or {}

    def __getattr__(self, name: str) -> Any:
        path = self._imports.get(name, self._path + name)
        if path in CLASSES:
            return CLASSES[path]
        if any(known.startswith(f"{path}.") for known in CLASSES):
            return Package(f"{path}.")
        raise OutOfReach("uses the Java gateway")


class Gateway:
    """PyFlink's gateway: one JVM for all tests."""

    jvm = Package()

    def __getattr__(self, name: str) -> Any:
        raise OutOfReach("uses the Java gateway")


def java_import(jvm: Package, name: str) -> None:
    """A class by its last name alone, as py4j has it."""
    jvm._imports[name.rpartition(".")[2]] = name


def to_java_data_structure(value: Any) -> Any:
    """Values of tests are Java's values here."""
    return value


def give_java_objects() -> None:
    """Give Penstock's classes, in this process alone, the attributes by which PyFlink's hand out their Java objects."""
    SerializationSchema._j_serialization_schema = property(Schema)  # type: ignore[attr-defined]
    DeserializationSchema._j_deserialization_schema = property(Schema)  # type: ignore[attr-defined]
    TypeInformation.get_java_type_info = lambda self: self  # type: ignore[attr-defined]
    avro_files.give_java_objects()
