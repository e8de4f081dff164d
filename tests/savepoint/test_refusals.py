"""F4: what does not fit a savepoint is refused by name, before anything runs; so is a damaged one (F8)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration, Time, WatermarkStrategy
from penstock.connectors.data_frame import DataFrameSource
from penstock.core.errors import SavepointError
from penstock.datastream import ProcessJoinFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows
from penstock.savepoint.compatibility import fit
from penstock.savepoint.metadata import FORMAT
from penstock.savepoint.savepoint import METADATA, Savepoint
from penstock.savepoint.sealed_json import sealed, unsealed
from penstock.savepoint.storage import Folder
from penstock.testing import collect, local_job


def counted(uid: str = "sum", source: str = "numbers", **more: Any) -> StreamExecutionEnvironment:
    env = StreamExecutionEnvironment()
    numbers = env.from_collection(list(range(20))).uid(source)
    collect(numbers.key_by(lambda v: v % 3).reduce(lambda a, b: a + b).uid(uid), "out")
    return env


@pytest.fixture
def saved(tmp_path: Path) -> str:
    job = local_job(counted(), 2)
    job.run_batch(10)
    return job.savepoint(str(tmp_path / "saved")).path


def refusal(env: StreamExecutionEnvironment, saved: str, **more: Any) -> str:
    with pytest.raises(SavepointError) as caught:
        local_job(env, 2, savepoint=saved, **more)
    return str(caught.value)


def test_state_that_nobody_claims(saved: str) -> None:
    assert refusal(counted("total"), saved) == (
        f"The job 'Penstock Job' cannot start from {saved}:\n"
        "- no operator claims the state of operator 'Reduce' (uid sum). Give the operator that is to take it over this "
        "uid, or allow it to be dropped (--allow-unclaimed-state, or execution.state-recovery.ignore-unclaimed-state)"
    )


def test_state_that_nobody_claims_is_dropped_if_that_is_allowed(saved: str) -> None:
    job = local_job(counted("total"), 2, savepoint=saved, allow_unclaimed=True)
    job.run()
    assert sorted(job.results["out"])[-3:] == [42, 45, 58], "sums begin anew, the source goes on where it stood"


def test_a_position_that_nobody_claims(saved: str) -> None:
    assert "no source claims the position of source 'Source: Collection' (uid numbers)" in refusal(
        counted(source="other"), saved
    )


def test_an_operator_that_is_no_longer_keyed(saved: str) -> None:
    env = StreamExecutionEnvironment()
    collect(env.from_collection([1]).uid("numbers").map(lambda v: v).uid("sum"), "out")
    assert "- operator 'Map' (uid sum) has keyed state, but is not keyed in this program: give it another uid" in (
        refusal(env, saved, allow_unclaimed=True)
    )


def windowed(assigner: Any) -> StreamExecutionEnvironment:
    env = StreamExecutionEnvironment()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda v, _: v)
    numbers = env.from_collection(list(range(20))).uid("numbers").assign_timestamps_and_watermarks(strategy)
    collect(numbers.key_by(lambda v: v % 3).window(assigner).reduce(lambda a, b: a + b).uid("windows"), "out")
    return env


def test_windows_that_lay_out_their_state_in_another_way(tmp_path: Path) -> None:
    job = local_job(windowed(TumblingEventTimeWindows.of(Time.milliseconds(50))))
    job.run_batch(10)
    saved = job.savepoint(str(tmp_path / "windows")).path
    assert "(uid windows) kept its state as AlignedWindowOperator and would now as SessionWindowOperator, which" in (
        refusal(windowed(EventTimeSessionWindows.with_gap(Time.milliseconds(5))), saved)
    )
    rest = local_job(windowed(TumblingEventTimeWindows.of(Time.milliseconds(50))), 2, savepoint=saved)
    rest.run()
    assert sorted(rest.results["out"]) == [57, 63, 70]


class Pair(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
        yield left, right


def test_an_interval_join_does_not_read_the_state_of_another_function(saved: str) -> None:
    env = StreamExecutionEnvironment()
    keyed = env.from_collection(list(range(20))).uid("numbers").key_by(lambda v: v % 3)
    other = env.from_collection([1]).key_by(lambda v: v)
    joined = keyed.interval_join(other).between(Time.milliseconds(0), Time.milliseconds(1)).process(Pair())
    collect(joined.uid("sum"), "out")
    assert "(uid sum) kept its state as KeyedProcessSpec and would now as IntervalJoinOperator, which" in (
        refusal(env, saved, allow_unclaimed=True)
    )


def test_a_source_of_another_kind(saved: str) -> None:
    env = StreamExecutionEnvironment()
    numbers = env.from_source(NumberSequenceSource(0, 9), WatermarkStrategy.no_watermarks(), "n").uid("numbers")
    collect(numbers.key_by(lambda v: v % 3).reduce(lambda a, b: a + b).uid("sum"), "out")
    assert (
        "- source 'Source: n' (uid numbers) was a CollectionSource and is a NumberSequenceSource, which cannot know"
        in (refusal(env, saved))
    )


def test_a_source_that_cannot_be_positioned(saved: str) -> None:
    env = StreamExecutionEnvironment()
    source = DataFrameSource(None, bounded=False)
    frame = env.from_source(source, WatermarkStrategy.no_watermarks(), "frame").uid("numbers")
    collect(frame.key_by(lambda v: v).reduce(lambda a, b: a).uid("sum"), "out")
    assert "- source 'Source: frame' (uid numbers) cannot be started from a position. Give it another uid" in (
        refusal(env, saved)
    )


def test_another_maximum_parallelism(saved: str) -> None:
    assert refusal(counted(), saved, max_parallelism=64) == (
        f"The job 'Penstock Job' has maximum parallelism 64, but {saved} was taken with 128, which is fixed for the "
        "life of its state: set it to 128"
    )


def test_key_groups_of_the_savepoint_are_taken_over(tmp_path: Path) -> None:
    job = local_job(counted(), 2, max_parallelism=6)
    job.run_batch(10)
    saved = job.savepoint(str(tmp_path / "six"))
    rest = local_job(counted(), 3, savepoint=saved.path)
    assert rest.plan.max_parallelism == 6
    rest.run()
    assert rest.results["out"][-1] in (57, 63, 70)
    with pytest.raises(SavepointError, match=r"has parallelism 7, but .*six was taken with maximum parallelism 6"):
        local_job(counted(), 7, savepoint=saved.path)


# -- the folder -----------------------------------------------------------------------------------


def test_a_folder_that_is_not_empty_takes_no_savepoint(saved: str) -> None:
    job = local_job(counted())
    with pytest.raises(SavepointError, match=r"cannot take a savepoint: it is not empty \(it holds metadata"):
        job.savepoint(saved)


def test_a_folder_without_metadata_is_no_savepoint(tmp_path: Path) -> None:
    with pytest.raises(SavepointError, match=r"There is no savepoint at .*: the folder does not exist or is empty"):
        Savepoint(str(tmp_path))
    (tmp_path / "notes").write_text("")
    with pytest.raises(SavepointError, match=r"holds no savepoint: there is no metadata.json.* It holds notes"):
        Savepoint(str(tmp_path))


def changed_metadata(saved: str, **fields: Any) -> None:
    """Write other metadata, with a checksum that is right."""
    folder = Folder(saved)
    folder.write(METADATA, sealed({**unsealed(folder.read_bytes(METADATA))[0], **fields}))


def test_a_format_of_the_future(saved: str) -> None:
    changed_metadata(saved, format=FORMAT + 1)
    with pytest.raises(SavepointError, match=rf"has savepoint format {FORMAT + 1} \(written by Penstock .*; this"):
        Savepoint(saved)


def test_something_else(saved: str) -> None:
    Folder(saved).write(METADATA, "{}")
    with pytest.raises(SavepointError, match="is not a savepoint of Penstock"):
        Savepoint(saved)


@pytest.mark.parametrize("damage", ["missing", "cut", "flipped"])
def test_a_damaged_file_is_named(saved: str, damage: str) -> None:
    """F8."""
    savepoint = Savepoint(saved)
    file = Path(saved, savepoint.metadata.files[0].name)
    data = bytearray(file.read_bytes())
    if damage == "missing":
        file.unlink()
    else:
        data[len(data) // 3] ^= 1
        file.write_bytes(data[:-9] if damage == "cut" else data)
    with pytest.raises(SavepointError, match=rf"The savepoint is damaged: {file}: "):
        list(savepoint.blobs())


def test_a_plan_that_fits_is_only_pinned(saved: str) -> None:
    plan = local_job(counted(), 2).plan
    assert fit(plan, Savepoint(saved)).vertices == plan.vertices


def test_a_job_that_has_not_taken_in_its_savepoint_yet(saved: str, tmp_path: Path) -> None:
    job = local_job(counted(), savepoint=saved)
    with pytest.raises(SavepointError, match="has not taken in the savepoint that it starts from: run a batch first"):
        job.savepoint(str(tmp_path / "two"))


def test_a_job_that_is_not_on_the_streaming_host_takes_none() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration({"penstock.host": "local"}))
    env.from_collection([1]).print()
    client = env.execute_async()
    with pytest.raises(SavepointError, match="This job takes no savepoints: only jobs on the streaming host do"):
        client.trigger_savepoint("/s")
    client.wait()
