"""Who is measured: the one table of peers."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Peer:
    """How a peer is run: its module, its environment (None: the harness's own), variables it wants to see."""

    name: str
    module: str
    environment: str | None = None
    variables: dict[str, str] = field(default_factory=dict)


PENSTOCK = "penstock"
LOOP = "loop"
SPARK_SQL = "spark-sql"
TWS_ROW = "pyspark-tws-row"
TWS_PANDAS = "pyspark-tws-pandas"
APPLY_PANDAS = "pyspark-apply-pandas"
FLINK_PROCESS = "pyflink-process"
FLINK_THREAD = "pyflink-thread"
BYTEWAX = "bytewax"
PATHWAY = "pathway"
PYSPARK_RATE = "pyspark-rate"
PYSPARK_SOURCE = "pyspark-python-source"

PEERS = {
    peer.name: peer
    for peer in (
        Peer(PENSTOCK, "benchmarks.peer_penstock"),
        Peer(LOOP, "benchmarks.peer_loop"),
        Peer(SPARK_SQL, "benchmarks.peer_spark_sql"),
        Peer(TWS_ROW, "benchmarks.peer_pyspark_tws", variables={"BENCH_VARIANT": "row"}),
        Peer(TWS_PANDAS, "benchmarks.peer_pyspark_tws", variables={"BENCH_VARIANT": "pandas"}),
        Peer(APPLY_PANDAS, "benchmarks.peer_pyspark_tws", variables={"BENCH_VARIANT": "apply"}),
        Peer(PYSPARK_RATE, "benchmarks.peer_pyspark_plain", variables={"BENCH_VARIANT": "rate"}),
        Peer(PYSPARK_SOURCE, "benchmarks.peer_pyspark_plain", variables={"BENCH_VARIANT": "python"}),
        Peer(FLINK_PROCESS, "benchmarks.peer_pyflink", "flink", {"BENCH_VARIANT": "process"}),
        Peer(FLINK_THREAD, "benchmarks.peer_pyflink", "flink", {"BENCH_VARIANT": "thread"}),
        Peer(BYTEWAX, "benchmarks.peer_bytewax", "bytewax"),
        Peer(PATHWAY, "benchmarks.peer_pathway", "pathway"),
    )
}
