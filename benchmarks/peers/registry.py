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
        Peer(PENSTOCK, "benchmarks.peers.penstock"),
        Peer(LOOP, "benchmarks.peers.loop"),
        Peer(SPARK_SQL, "benchmarks.peers.spark_sql"),
        Peer(TWS_ROW, "benchmarks.peers.pyspark_tws", variables={"BENCH_VARIANT": "row"}),
        Peer(TWS_PANDAS, "benchmarks.peers.pyspark_tws", variables={"BENCH_VARIANT": "pandas"}),
        Peer(APPLY_PANDAS, "benchmarks.peers.pyspark_tws", variables={"BENCH_VARIANT": "apply"}),
        Peer(PYSPARK_RATE, "benchmarks.peers.pyspark_plain", variables={"BENCH_VARIANT": "rate"}),
        Peer(PYSPARK_SOURCE, "benchmarks.peers.pyspark_plain", variables={"BENCH_VARIANT": "python"}),
        Peer(FLINK_PROCESS, "benchmarks.peers.pyflink", "flink", {"BENCH_VARIANT": "process"}),
        Peer(FLINK_THREAD, "benchmarks.peers.pyflink", "flink", {"BENCH_VARIANT": "thread"}),
        Peer(BYTEWAX, "benchmarks.peers.bytewax", "bytewax"),
        Peer(PATHWAY, "benchmarks.peers.pathway", "pathway"),
    )
}
