"""Older sinks on the two-phase protocol, and who is told of checkpoints (F6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import pytest

from penstock.core.contracts.guarantees import SinkKind
from penstock.core.contracts.sink import (
    CommitRequest,
    Committer,
    Sink,
    SinkWriter,
    SupportsCommitter,
    WriterInitContext,
)
from penstock.core.errors import SinkError, UserFunctionError
from penstock.core.time.clock import ManualClock
from penstock.datastream import (
    CheckpointCommitter,
    CheckpointListener,
    GenericWriteAheadSink,
    KeyedProcessFunction,
    MapFunction,
    RichSinkFunction,
    StreamExecutionEnvironment,
    TwoPhaseCommitSinkFunction,
)
from penstock.local.local_job import LocalJob
from penstock.plan.guarantees import paths
from penstock.testing import local_job

CALLS: list[Any] = []
TARGET: list[Any] = []


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    CALLS.clear()
    TARGET.clear()
    Remembering.done.clear()
    Target.refusals = 0
    return iter(())


# -- TwoPhaseCommitSinkFunction -------------------------------------------------------------------------


class Transfers(TwoPhaseCommitSinkFunction):
    """A transaction is a list that travels."""

    def open(self, runtime_context: Any) -> None:
        CALLS.append(("open", self.get_runtime_context().get_index_of_this_subtask()))

    def begin_transaction(self) -> dict[str, Any]:
        CALLS.append("begin")
        return {"name": str(len(CALLS)), "values": []}

    def invoke(self, transaction: Any, value: Any, context: Any) -> None:
        if value == "bad":
            raise ValueError("bad")
        transaction["values"].append((value, context.timestamp(), context.current_processing_time()))

    def pre_commit(self, transaction: Any) -> None:
        CALLS.append("pre_commit")

    def commit(self, transaction: Any) -> None:
        CALLS.append("commit")
        TARGET.extend(transaction["values"])

    def recover_and_commit(self, transaction: Any) -> None:
        CALLS.append(("recover", [value for value, *_ in transaction["values"]]))

    def abort(self, transaction: Any) -> None:
        CALLS.append(("abort", [value for value, *_ in transaction["values"]]))

    def finish(self) -> None:
        CALLS.append("finish")


def into(sink: Any, values: Iterable[Any], clock: ManualClock | None = None) -> LocalJob:
    env = StreamExecutionEnvironment()
    stream = env.from_collection(list(values))
    (stream.sink_to if isinstance(sink, Sink) else stream.add_sink)(sink).uid("sink").name("out")
    return local_job(env, clock=clock or ManualClock(5))


def test_a_transaction_a_batch_committed_when_the_batch_is_durable() -> None:
    """F6"""
    job = into(Transfers(), "abc")
    job.run([2])
    expected = [("open", 0), "begin", "pre_commit", "commit", "begin", "finish", "pre_commit", "commit"]
    assert expected == CALLS
    assert TARGET == [("a", None, 5), ("b", None, 5), ("c", None, 5)]


def test_a_batch_without_records_has_no_transaction() -> None:
    """F6"""
    job = into(Transfers(), "a")
    job.run_batch(0)
    assert CALLS == [("open", 0)]


def test_what_a_failed_batch_prepared_is_never_committed() -> None:
    """F1, F6"""
    job = into(Transfers(), "ab")
    job.run_batch(1, commit=False)
    job.run()
    assert [value for value, *_ in TARGET] == ["a", "b"]


def test_after_a_restart_the_last_durable_transaction_is_committed_again() -> None:
    """F6: by recover_and_commit, once for each run."""
    job = into(Transfers(), "abc")
    job.run_batch(2)
    job.restart()
    job.run_batch(0)
    job.restart()
    job.run_batch(0)
    assert [call for call in CALLS if call[0] == "recover"] == [("recover", ["a", "b"])]
    job.run()
    assert [value for value, *_ in TARGET] == ["a", "b", "c"]


def test_a_transaction_whose_batch_fails_is_aborted() -> None:
    """F6, P9"""
    job = into(Transfers(), ["a", "bad"])
    with pytest.raises(UserFunctionError, match=r"^The sink writer of operator 'out' \(uid sink\) failed on record"):
        job.run()
    job.restart()
    assert CALLS[-1:] == [("abort", ["a"])]
    assert TARGET == []


class FailsToPrepare(Transfers):
    def pre_commit(self, transaction: Any) -> None:
        raise OSError("disk full")


def test_a_transaction_that_cannot_be_prepared_fails_the_job_and_is_aborted() -> None:
    """F6, P9"""
    job = into(FailsToPrepare(), "a")
    with pytest.raises(UserFunctionError, match=r"^Preparing a commit of operator 'out' \(uid sink\) failed\n"):
        job.run()
    job.restart()
    assert CALLS[-1:] == [("abort", ["a"])]


class FailsToCommit(Transfers):
    def commit(self, transaction: Any) -> None:
        raise OSError("gone")


def test_a_commit_that_fails_names_the_sink() -> None:
    """P9, F6"""
    job = into(FailsToCommit(), "a")
    with pytest.raises(SinkError, match=r"^Sink 'out' \(uid sink\) could not commit: OSError: gone$"):
        job.run()
    job.restart()
    job.run()
    assert ("recover", ["a"]) in CALLS


# -- GenericWriteAheadSink ------------------------------------------------------------------------------


class Remembering(CheckpointCommitter):
    done: ClassVar[set[Any]] = set()

    def open(self) -> None:
        CALLS.append(("open", bool(self.job_id), self.operator_id))

    def create_resource(self) -> None:
        CALLS.append("create")

    def close(self) -> None:
        CALLS.append("close")

    def commit_checkpoint(self, subtask_idx: int, checkpoint_id: int) -> None:
        self.done.add((self.job_id, subtask_idx, checkpoint_id))

    def is_checkpoint_committed(self, subtask_idx: int, checkpoint_id: int) -> bool:
        return (self.job_id, subtask_idx, checkpoint_id) in self.done


class Target(GenericWriteAheadSink):
    refusals = 0

    def send_values(self, values: Iterable[Any], checkpoint_id: int, timestamp: int) -> bool:
        if Target.refusals:
            Target.refusals -= 1
            return False
        TARGET.append((list(values), checkpoint_id, timestamp))
        return True


def test_records_are_sent_when_their_batch_is_durable() -> None:
    """F6"""
    job = into(Target(Remembering()), "abc")
    job.run_batch(1, commit=False)
    assert TARGET == []
    job.run([2])
    assert TARGET == [(["a", "b"], 1, 5), (["c"], 2, 5)]
    assert CALLS == ["create", ("open", True, "sink")]
    job.commits.close()
    assert CALLS[-1] == "close"


def test_what_was_sent_is_not_sent_again() -> None:
    """F6: the checkpoint committer knows."""
    job = into(Target(Remembering()), "abc")
    job.run_batch(2)
    job.restart()
    job.run()
    assert [values for values, *_ in TARGET] == [["a", "b"], ["c"]]


def test_what_was_sent_but_not_noted_is_sent_again() -> None:
    """F6, F7: at-least-once."""
    job = into(Target(Remembering()), "abc")
    job.run_batch(2)
    Remembering.done.clear()
    job.restart()
    job.run()
    assert [values for values, *_ in TARGET] == [["a", "b"], ["a", "b"], ["c"]]


def test_what_could_not_be_sent_is_sent_after_the_restart() -> None:
    """F6, P9"""
    Target.refusals = 1
    job = into(Target(Remembering()), "ab")
    text = (
        r"^Target \(uid sink\) could not send the 1 record\(s\) of checkpoint 1: send_values returned False\. "
        "They are sent again after a restart$"
    )
    with pytest.raises(SinkError, match=text):
        job.run_batch(1)
    assert TARGET == []
    job.restart()
    job.run()
    assert [values for values, *_ in TARGET] == [["a"], ["b"]]


def test_a_job_that_counts_its_batches_anew_is_another_job() -> None:
    """F6: as after a savepoint; checkpoint 1 of the new one has not been sent."""
    job = into(Target(Remembering()), "abcd")
    job.run_batch(2)
    job.restart()
    job.batch_id = 0
    job.run_batch(0)  # nothing comes, but the new count is noted
    job.run_batch(1)
    job.run()
    assert [values for values, *_ in TARGET] == [["a", "b"], ["c"], ["d"]]
    assert len({job_id for job_id, *_ in Remembering.done}) == 2


def test_kinds() -> None:
    """F7"""
    env = StreamExecutionEnvironment()
    env.from_collection([1]).add_sink(Transfers())
    env.from_collection([1]).sink_to(Target(Remembering()))
    assert [path.kind for path in paths(env.get_stream_graph())] == [SinkKind.TWO_PHASE, SinkKind.WRITE_AHEAD]


# -- committers see whole batches ----------------------------------------------------------------------


class Whole(Sink, SupportsCommitter):
    def create_writer(self, context: WriterInitContext) -> SinkWriter:
        CALLS.append((context.uid, context.subtask_index, context.generation))
        return WholeWriter()

    def create_committer(self) -> Committer:
        return WholeCommitter()


class WholeWriter(SinkWriter):
    def __init__(self) -> None:
        self.values: list[Any] = []

    def write(self, value: Any, timestamp: int | None) -> None:
        self.values.append(value)

    def prepare_commit(self) -> list[Any]:
        return self.values


class WholeCommitter(Committer):
    def commit(self, requests: Any) -> None:
        TARGET.append(sorted(request.get_committable() for request in requests))
        assert all(isinstance(request, CommitRequest) for request in requests)


def test_a_committer_is_given_what_all_subtasks_prepared_in_a_batch_at_once() -> None:
    """F6"""
    env = StreamExecutionEnvironment()
    env.from_collection(list(range(12))).rebalance().map(lambda v: v).sink_to(Whole()).uid("w")
    local_job(env, 3).run([6])
    assert [list(range(6)), list(range(6, 12))] == TARGET
    assert {(uid, subtask) for uid, subtask, _ in CALLS} == {("w", 0), ("w", 1), ("w", 2)}
    assert len({generation for *_, generation in CALLS}) == 1


# -- CheckpointListener ---------------------------------------------------------------------------------


class ListeningMap(MapFunction, CheckpointListener):
    def map(self, value: Any) -> Any:
        CALLS.append(value)
        return value

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        CALLS.append(("durable", checkpoint_id))


class ListeningKeyed(KeyedProcessFunction, CheckpointListener):
    def process_element(self, value: Any, ctx: Any) -> None:
        CALLS.append(value)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        CALLS.append(("durable", checkpoint_id))


class ListeningSink(RichSinkFunction, CheckpointListener):
    def invoke(self, value: Any, context: Any) -> None:
        CALLS.append(value)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        CALLS.append(("durable", checkpoint_id))


def listening(kind: str) -> StreamExecutionEnvironment:
    env = StreamExecutionEnvironment()
    stream = env.from_collection(["a", "b", "c"])
    if kind == "map":
        stream.map(ListeningMap()).print()
    elif kind == "keyed map":
        stream.key_by(lambda v: 0).map(ListeningMap()).print()
    elif kind == "process":
        stream.key_by(lambda v: 0).process(ListeningKeyed()).print()
    else:
        stream.add_sink(ListeningSink())
    return env


@pytest.mark.parametrize("kind", ["map", "keyed map", "process", "sink"])
def test_a_function_is_told_at_the_next_batch_that_the_one_before_is_durable(kind: str) -> None:
    """F6"""
    job = local_job(listening(kind), printer=lambda text: None)
    job.run([1, 1])
    assert CALLS == ["a", ("durable", 1), "b", ("durable", 2), "c"]


def test_a_batch_that_failed_is_not_said_to_be_durable() -> None:
    """F6"""
    job = local_job(listening("sink"))
    job.run_batch(1)
    job.run_batch(1, commit=False)
    job.run_batch(1)
    assert CALLS == ["a", ("durable", 1), "b", ("durable", 1), "b"]


class FailingListener(ListeningSink):
    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        raise OSError("no")


def test_a_listener_that_fails_is_named() -> None:
    """P9"""
    env = StreamExecutionEnvironment()
    env.from_collection([1, 2]).add_sink(FailingListener()).uid("s")
    text = r"^notify_checkpoint_complete\(\) of operator 'Sink: Unnamed' \(uid s\) failed\n"
    with pytest.raises(UserFunctionError, match=text):
        local_job(env).run([1])
