"""The guarantee of each path is computed, shown and enforced (F7)."""

import logging
import re
from collections.abc import Callable
from typing import Any

import pytest

from penstock.common import Configuration
from penstock.core.contracts.guarantees import Guarantee, SinkKind
from penstock.core.contracts.sink import Committer, DeliveryGuarantee, Sink, SupportsCommitter
from penstock.core.errors import ConfigurationError, ProgramError
from penstock.datastream import (
    CheckpointingMode,
    DataStream,
    SinkFunction,
    SourceFunction,
    StreamExecutionEnvironment,
)
from penstock.plan.guarantees import paths

pytestmark = pytest.mark.filterwarnings("ignore:.*cannot rewind.*:RuntimeWarning")


class Ticks(SourceFunction):
    def run(self, ctx: Any) -> None:
        ctx.collect(1)

    def cancel(self) -> None: ...


class Plain(SinkFunction):
    def invoke(self, value: Any, context: Any) -> None: ...


class Upsert(Plain):
    idempotent = True


class Writer(Sink):
    def create_writer(self, context: Any) -> Any:
        raise AssertionError("never")


class UpsertWriter(Writer):
    idempotent = True


class TwoPhase(Writer, SupportsCommitter):
    def create_committer(self) -> Committer:
        raise AssertionError("never")


Ends = dict[str, Callable[[DataStream[Any]], Any]]
ENDS: Ends = {
    "plain function": lambda s: s.add_sink(print),
    "plain": lambda s: s.add_sink(Plain()),
    "idempotent": lambda s: s.add_sink(Upsert()),
    "writer": lambda s: s.sink_to(Writer()),
    "idempotent writer": lambda s: s.sink_to(UpsertWriter()),
    "two-phase": lambda s: s.sink_to(TwoPhase()),
    "print": lambda s: s.print(),
}
KINDS = {
    "plain function": SinkKind.PLAIN,
    "plain": SinkKind.PLAIN,
    "idempotent": SinkKind.IDEMPOTENT,
    "writer": SinkKind.PLAIN,
    "idempotent writer": SinkKind.IDEMPOTENT,
    "two-phase": SinkKind.TWO_PHASE,
    "print": SinkKind.SHOWN,
}


def environment(**settings: str) -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment(Configuration({k.replace("_", "."): v for k, v in settings.items()}))


@pytest.mark.parametrize("end", ENDS)
def test_a_source_that_can_rewind_gives_what_the_sink_can(end: str) -> None:
    """F7"""
    env = environment()
    ENDS[end](env.from_collection([1]).map(lambda v: v))
    (path,) = paths(env.get_stream_graph())
    assert (path.kind, path.gives) == (KINDS[end], KINDS[end].best)


@pytest.mark.parametrize("end", ENDS)
def test_a_source_that_cannot_rewind_gives_at_most_once(end: str) -> None:
    """F7"""
    env = environment()
    ENDS[end](env.add_source(Ticks()).key_by(lambda v: v).reduce(lambda a, b: a))
    (path,) = paths(env.get_stream_graph())
    assert path.gives is Guarantee.AT_MOST_ONCE


def test_each_path_has_its_own_guarantee_and_is_shown() -> None:
    """F7, G3: two sources, a union, three sinks; one of the sinks is reached by one source only."""
    env = environment()
    ticks, numbers = env.add_source(Ticks(), "ticks"), env.from_collection([1]).name("numbers")
    both = numbers.union(ticks)
    both.sink_to(TwoPhase()).name("files")
    both.add_sink(print).name("calls")
    numbers.sink_to(UpsertWriter()).name("upserts")
    assert env.explain().split("\n\n")[-1].splitlines() == [
        "== Guarantees: Penstock Job ==",
        "'Source: ticks' -> 'files': at-most-once (the source cannot rewind)",
        "'Source: ticks' -> 'calls': at-most-once (the source cannot rewind)",
        "'numbers' -> 'files': exactly-once (two-phase sink)",
        "'numbers' -> 'calls': at-least-once (plain sink: a batch that failed is written again)",
        "'numbers' -> 'upserts': exactly-once (idempotent sink)",
    ]


def test_paths_that_read_the_same_are_shown_once() -> None:
    """F7"""
    env = environment()
    numbers = env.from_collection([1])
    for _ in range(3):
        numbers.print()
    assert env.explain().count("'Source: Collection' -> 'Print to Std. Out': ") == 1


def ask(env: StreamExecutionEnvironment, mode: CheckpointingMode) -> None:
    env.enable_checkpointing(1000, mode)


def test_exactly_once_is_refused_where_a_sink_is_plain() -> None:
    """F7, P9"""
    env = environment()
    ask(env, CheckpointingMode.EXACTLY_ONCE)
    env.from_collection([1]).name("numbers").add_sink(Plain()).name("calls")
    text = (
        "The path 'numbers' -> 'calls' gives at-least-once, but execution.checkpointing.mode asks for EXACTLY_ONCE: "
        "'calls' is a plain sink: a batch that failed is written again. Use a Sink with a committer or a "
        "TwoPhaseCommitSinkFunction, set `idempotent = True` on a sink that may be given a record twice, "
        "or ask for AT_LEAST_ONCE"
    )
    with pytest.raises(ProgramError, match=f"^{re.escape(text)}$"):
        env.execute()


@pytest.mark.parametrize("mode", list(CheckpointingMode))
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.filterwarnings("ignore:execution.checkpointing.mode:UserWarning")
def test_any_guarantee_is_refused_where_the_source_cannot_rewind(mode: CheckpointingMode, end: str) -> None:
    """F7, P9"""
    env = environment()
    ask(env, mode)
    ENDS[end](env.add_source(Ticks(), "ticks"))
    text = (
        rf"gives at-most-once, but execution.checkpointing.mode asks for {mode.name}: 'Source: ticks' cannot rewind\. "
        r"Read from a source with offsets \(a PythonSource, files\), or do not ask for a guarantee$"
    )
    with pytest.raises(ProgramError, match=text):
        env.explain()


@pytest.mark.parametrize("end", ["idempotent", "idempotent writer", "two-phase", "print"])
def test_exactly_once_is_granted(end: str) -> None:
    """F7: printing is for the eye, and refused nothing."""
    env = environment()
    ask(env, CheckpointingMode.EXACTLY_ONCE)
    ENDS[end](env.from_collection([1]))
    assert "Guarantees" in env.explain()


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("interval", [None, 500])
def test_who_asks_for_nothing_is_refused_nothing(end: str, interval: int | None) -> None:
    """F7: the mode is EXACTLY_ONCE by default; a default is no demand."""
    for start in (lambda env: env.from_collection([1]), lambda env: env.add_source(Ticks())):
        env = environment()
        if interval:
            env.enable_checkpointing(interval)
        assert env.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE
        ENDS[end](start(env))
        assert "Guarantees" in env.explain()


@pytest.mark.filterwarnings("ignore:execution.checkpointing.mode:UserWarning")
def test_at_least_once_is_granted_to_plain_sinks() -> None:
    """F7"""
    env = environment()
    ask(env, CheckpointingMode.AT_LEAST_ONCE)
    env.from_collection([1]).add_sink(Plain())
    assert "at-least-once" in env.explain()


class Asking(Writer):
    def __init__(self, guarantee: DeliveryGuarantee) -> None:
        self.delivery_guarantee = guarantee


class AskingFunction(Plain):
    delivery_guarantee = DeliveryGuarantee.EXACTLY_ONCE


def test_a_sink_may_ask_too() -> None:
    """F7, P9: by its delivery guarantee."""
    env = environment()
    env.from_collection([1]).sink_to(Asking(DeliveryGuarantee.EXACTLY_ONCE)).name("out")
    with pytest.raises(ProgramError, match=r"gives at-least-once, but sink 'out' asks for EXACTLY_ONCE: 'out' is a pl"):
        env.explain()
    env = environment()
    env.from_collection([1]).add_sink(AskingFunction()).name("out")
    with pytest.raises(ProgramError, match=r"but sink 'out' asks for EXACTLY_ONCE"):
        env.explain()
    env = environment()
    env.add_source(Ticks(), "ticks").sink_to(Asking(DeliveryGuarantee.AT_LEAST_ONCE)).name("out")
    with pytest.raises(ProgramError, match=r"but sink 'out' asks for AT_LEAST_ONCE: 'Source: ticks' cannot rewind"):
        env.explain()


def test_a_sinks_word_is_stronger_than_the_jobs() -> None:
    """F7: who asks for less at a sink gets less there."""
    env = environment()
    ask(env, CheckpointingMode.EXACTLY_ONCE)
    env.from_collection([1]).sink_to(Asking(DeliveryGuarantee.AT_LEAST_ONCE))
    assert "at-least-once" in env.explain()


def test_delivery_guarantee_none_asks_for_nothing() -> None:
    """F7"""
    env = environment()
    env.add_source(Ticks()).sink_to(Asking(DeliveryGuarantee.NONE))
    assert "at-most-once" in env.explain()


def test_an_unknown_mode_is_refused() -> None:
    """P9"""
    env = StreamExecutionEnvironment(Configuration({"execution.checkpointing.mode": "TWICE"}))
    env.from_collection([1]).print()
    text = r"^execution.checkpointing.mode must be one of EXACTLY_ONCE, AT_LEAST_ONCE, got 'TWICE'$"
    with pytest.raises(ConfigurationError, match=text):
        env.explain()


def test_the_guarantees_are_said_when_a_job_starts(caplog: pytest.LogCaptureFixture) -> None:
    """F7"""
    env = environment(penstock_host="local")
    env.from_collection([1]).sink_to(_Counting())
    with caplog.at_level(logging.INFO, "penstock.job"):
        env.execute()
    assert "'Source: Collection' -> 'Writer': exactly-once (idempotent sink)" in caplog.text


class _Counting(UpsertWriter):
    def create_writer(self, context: Any) -> Any:
        return _Nowhere()


class _Nowhere:
    def write_all(self, values: Any, timestamps: Any) -> None: ...
    def flush(self) -> None: ...
    def prepare_commit(self) -> list[Any]:
        return []

    def close(self) -> None: ...
