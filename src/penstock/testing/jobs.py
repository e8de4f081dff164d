"""From a program to a job in the local host, with named results."""

from __future__ import annotations

from collections.abc import Callable

from penstock.api.data_stream import DataStream
from penstock.api.environment import StreamExecutionEnvironment
from penstock.core.program.job import RuntimeSettings
from penstock.core.program.specs import CollectSpec
from penstock.core.time.clock import Clock
from penstock.local.local_job import LocalJob
from penstock.plan.compile import PlanOptions, compile_job

__all__ = ["collect", "local_job"]


def collect(stream: DataStream[object], name: str) -> None:
    """Gather a stream's records under a name, in the order of their subtask: `job.results[name]` in the local host.

    A stream that has no records has an empty list there.
    """
    sink = stream._add_sink(f"Collect {name}", CollectSpec(name, False))
    parallelism = stream._inputs[0].source.parallelism
    if parallelism is not None:
        sink.set_parallelism(parallelism)


def local_job(
    env: StreamExecutionEnvironment,
    parallelism: int = 1,
    *,
    settings: RuntimeSettings | None = None,
    clock: Clock | None = None,
    max_parallelism: int = 128,
    printer: Callable[[str], None] = print,
    savepoint: str | None = None,
    allow_unclaimed: bool = False,
) -> LocalJob:
    """The program of an environment, ready to be run batch by batch without a JVM, from a savepoint if one is given.

    The environment's settings are heeded as `execute()` would; `settings` takes the place of all of them.

    >>> env = StreamExecutionEnvironment()
    >>> collect(env.from_collection([1, 2, 3]).map(lambda v: v * v), "squares")
    >>> job = local_job(env)
    >>> job.run_batch(2)
    >>> job.results["squares"]
    [1, 4]
    >>> job.run()
    >>> job.results["squares"]
    [1, 4, 9]
    """
    graph = env.get_stream_graph()
    if settings is None:
        from penstock.launch import local_options

        options = local_options(graph, env.get_configuration(), parallelism, max_parallelism)
    else:
        options = PlanOptions(parallelism, max_parallelism, settings=settings)
    return LocalJob(compile_job(graph, options), clock, printer, savepoint, allow_unclaimed)
