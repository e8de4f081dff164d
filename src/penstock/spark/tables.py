"""Tables on Spark's side: column types, DataFrames of what jobs have written, and the tables that a query reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame, SparkSession

from penstock.core.errors import ProgramError, SinkError
from penstock.core.types.data_types import DecimalType
from penstock.core.types.type_info import TypeInformation

__all__ = ["append_parquet", "queried_tables", "read_parquet", "spark_type"]

_SIMPLE = {
    "STRING": "string",
    "CHAR": "string",
    "BOOLEAN": "boolean",
    "BYTE": "tinyint",
    "SHORT": "smallint",
    "INT": "int",
    "LONG": "bigint",
    "FLOAT": "float",
    "DOUBLE": "double",
    "BIG_INT": "decimal(38,0)",
    "BIG_DEC": "decimal(38,18)",
    "SQL_DATE": "date",
    "LOCAL_DATE": "date",
    "SQL_TIMESTAMP": "timestamp_ntz",
    "LOCAL_DATE_TIME": "timestamp_ntz",
    "INSTANT": "timestamp",
    "PICKLED_BYTE_ARRAY": "binary",
}
_LISTS = frozenset({"LIST", "BASIC_ARRAY", "PRIMITIVE_ARRAY", "OBJECT_ARRAY"})


def spark_type(info: TypeInformation) -> str:
    """The type of a column, as Spark's SQL writes it.

    >>> from penstock.core.types.type_info import Types
    >>> spark_type(Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.LIST(Types.STRING())]))
    'struct<`a`: int, `b`: array<string>>'
    """
    if isinstance(info, DecimalType):
        return f"decimal({info.precision},{info.scale})"
    if info.name in _SIMPLE:
        return _SIMPLE[info.name]
    inner = [spark_type(t) for t in info.params]
    if info.name in _LISTS:
        return f"array<{inner[0]}>"
    if info.name == "MAP":
        return f"map<{inner[0]}, {inner[1]}>"
    if info.name in ("ROW", "TUPLE"):
        names = info.field_names or tuple(f"f{i}" for i in range(len(inner)))
        return f"struct<{', '.join(f'`{n}`: {t}' for n, t in zip(names, inner, strict=True))}>"
    raise ProgramError(f"A DataFrame has no column type for {info}")


def read_parquet(spark: SparkSession, folder: str, row_type: TypeInformation | None) -> DataFrame:
    """The DataFrame of the Parquet files that a job has written into a folder; without files it has no rows."""
    if any(name.endswith(".parquet") and not name.startswith(".") for name in os.listdir(folder)):
        return spark.read.parquet(folder)
    if row_type is None:
        raise ProgramError(
            "The stream gave no records, so the columns of its DataFrame are not known: say them with a row type"
        )
    columns = zip(row_type.field_names, row_type.params, strict=True)
    return spark.createDataFrame([], ", ".join(f"`{name}` {spark_type(info)}" for name, info in columns))


def append_parquet(spark: SparkSession, table: str, paths: Sequence[str]) -> None:
    """Append Parquet files to a table, matching columns by name; a table that does not exist is created."""
    frame = spark.read.parquet(*paths)
    if not spark.catalog.tableExists(table):
        frame.write.saveAsTable(table)
        return
    columns = spark.table(table).columns
    if missing := sorted(set(frame.columns) - set(columns)):
        raise SinkError(f"SparkTableSink: the table {table} has no columns {missing}, only {columns}")
    frame.select(*columns).write.insertInto(table)


def queried_tables(spark: SparkSession, query: str) -> set[str]:
    """The tables and views that a query reads, in lower case, as Spark's parser sees them.

    Names in texts and comments, of columns, and of the query's own WITH clauses are not among them.
    """
    return set(_relations(spark._jsparkSession.sessionState().sqlParser().parsePlan(query), frozenset()))


def _relations(plan: JavaObject, own: frozenset[str]) -> Iterator[str]:
    """Names of tables below a node of a parsed plan; `own` are names that the WITH clauses around it define."""
    kind = plan.getClass().getSimpleName()
    if kind == "UnresolvedWith":
        for clause in _each(plan.cteRelations()):
            yield from _relations(clause._2(), own)
            own |= {clause._1().lower()}
    elif kind == "UnresolvedRelation":
        parts = list(_each(plan.multipartIdentifier()))
        if len(parts) == 1 and parts[0].lower() not in own:
            yield parts[0].lower()
    else:
        for inner in _each(plan.subqueries()):
            yield from _relations(inner, own)
        for inner in _each(plan.innerChildren()):
            if inner.getClass().getName().startswith(_LOGICAL):
                yield from _relations(inner, own)
    for child in _each(plan.children()):
        yield from _relations(child, own)


_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."


def _each(found: JavaObject) -> Iterator[JavaObject]:
    """The items of a Scala sequence."""
    return (found.apply(i) for i in range(found.length()))
