"""Values of settings come back as PyFlink 2.3 gives them; each expectation was seen there (P12)."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from penstock.common import Configuration, Types
from penstock.core.errors import ConfigurationError, PenstockError, ProgramError
from penstock.core.types.type_info import TypeInformation
from penstock.datastream import (
    EmbeddedRocksDBStateBackend,
    FileSystemCheckpointStorage,
    FsStateBackend,
    JobManagerCheckpointStorage,
    MemorySize,
    MemoryStateBackend,
    SlotSharingGroup,
    StreamExecutionEnvironment,
)
from penstock.datastream.state import MapStateDescriptor

# -- configurations -----------------------------------------------------------------------------------


def configuration() -> Configuration:
    conf = Configuration().set_string("k1", "v1").set_integer("k2", 1).set_float("k3", 1.2)
    return conf.set_boolean("k4", True).set_bytearray("k5", bytearray([1, 2, 3]))


TYPED = {"k1": "v1", "k2": 1, "k3": 1.2, "k4": True, "k5": bytearray([1, 2, 3])}


def all_of(conf: Configuration) -> dict[str, Any]:
    found: dict[str, Any] = {}
    conf.add_all_to_dict(found)
    return found


def test_a_configuration_is_shown_with_equals_signs() -> None:
    """P12"""
    assert str(Configuration()) == "{}"
    assert str(Configuration().set_string("k1", "v1").set_integer("k2", 1)) == "{k1=v1, k2=1}"
    assert str(Configuration().set_boolean("on", True)) == "{on=true}"


def test_values_are_added_to_a_dict_as_they_were_set() -> None:
    """P12"""
    found = all_of(configuration())
    assert found == TYPED
    assert [type(v) for v in found.values()] == [type(v) for v in TYPED.values()]
    assert configuration().to_dict()["k2"] == "1"


def test_the_type_of_a_value_follows_it() -> None:
    """P12: into copies and other configurations; the last call decides."""
    conf = configuration()
    assert all_of(deepcopy(conf)) == all_of(Configuration(conf)) == TYPED
    assert all_of(Configuration().add_all(conf, "x.")) == {f"x.{k}": v for k, v in TYPED.items()}
    assert all_of(conf.set_string("k2", "1"))["k2"] == "1"
    assert all_of(Configuration(conf).add_all(Configuration({"k3": "1.2"})))["k3"] == "1.2"
    conf.remove_config("k5")
    assert "k5" not in all_of(conf)
    all_of(configuration())["k5"].append(4)
    assert all_of(configuration()) == TYPED


# -- paths --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("file://var/checkpoints/", "file://var/checkpoints"),
        ("file:///var/checkpoints/", "file:/var/checkpoints"),
        ("file:/x/", "file:/x"),
        ("hdfs://h:9000/a/", "hdfs://h:9000/a"),
        ("s3://bucket//a//b", "s3://bucket/a/b"),
        ("/data//checkpoints/", "/data/checkpoints"),
        ("/", "/"),
    ],
)
def test_a_checkpoint_path_has_no_slash_at_its_end(given: str, shown: str) -> None:
    """P12"""
    assert FileSystemCheckpointStorage(given).get_checkpoint_path() == shown
    assert JobManagerCheckpointStorage(given).get_checkpoint_path() == shown
    assert FsStateBackend(given).get_checkpoint_path() == shown
    assert MemoryStateBackend(given).get_checkpoint_path() == shown
    conf = Configuration()
    FileSystemCheckpointStorage(given).apply(conf)
    assert conf.to_dict() == {"execution.checkpointing.dir": given}


def test_no_checkpoint_path_is_none() -> None:
    assert JobManagerCheckpointStorage().get_checkpoint_path() is None


@pytest.mark.filterwarnings("ignore::penstock.core.config.compat.CompatibilityWarning")
@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("file://var/db1/", "/db1"),
        ("file:///var/db1/", "/var/db1"),
        ("file:/a/b/", "/a/b"),
        ("/var//db/", "/var/db"),
        ("/a/../b/", "/a/../b"),
    ],
)
def test_folders_of_rocksdb_are_local_paths(given: str, shown: str) -> None:
    """P12"""
    backend = EmbeddedRocksDBStateBackend()
    backend.set_db_storage_paths(given, "/other/")
    assert backend.get_db_storage_paths() == [shown, "/other"]


@pytest.mark.parametrize("given", ["rel/x", "hdfs://x/y", "s3://b/c", "file:", ""])
def test_folders_that_are_not_local_are_refused(given: str) -> None:
    """P9"""
    with pytest.raises(ConfigurationError, match=rf"takes absolute paths of local folders, .* got '{given}'"):
        EmbeddedRocksDBStateBackend().set_db_storage_paths(given)


# -- slots --------------------------------------------------------------------------------------------


def builder() -> SlotSharingGroup.Builder:
    return SlotSharingGroup.builder("g")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: builder().set_task_heap_memory(MemorySize(0)), "'g': task heap memory must be positive, got 0 bytes"),
        (lambda: builder().set_task_heap_memory_mb(0), "'g': task heap memory must be positive, got 0 bytes"),
        (lambda: builder().set_cpu_cores(0.0), "'g': cpu cores must be positive, got 0.0"),
        (lambda: builder().set_cpu_cores(-1.0), "'g': cpu cores must be positive, got -1.0"),
        (lambda: builder().set_cpu_cores(1.0).build(), "'g' needs both cpu cores and task heap memory, or no"),
        (lambda: builder().set_task_heap_memory_mb(1).build(), "'g' needs both cpu cores and task heap memory, or no"),
        (lambda: builder().set_task_off_heap_memory_mb(1).build(), "'g' needs both cpu cores and task heap memory"),
        (lambda: builder().set_external_resource("gpu", 1.0).build(), "'g' needs both cpu cores and task heap memory"),
    ],
)
def test_resources_that_no_slot_can_have_are_refused(call: Callable[[], Any], message: str) -> None:
    """P9"""
    with pytest.raises(ValueError, match=message):
        call()


def test_memory_that_a_group_does_not_ask_for_is_none_or_zero() -> None:
    """P12"""
    empty, some = builder().build(), builder().set_cpu_cores(1.0).set_task_heap_memory_mb(1).build()
    assert (empty.get_task_off_heap_memory(), empty.get_managed_memory()) == (None, None)
    assert (some.get_task_off_heap_memory(), some.get_managed_memory()) == (MemorySize(0), MemorySize(0))


# -- keyed streams ------------------------------------------------------------------------------------

PARTITIONINGS: dict[str, Callable[[Any], Any]] = {
    "shuffle": lambda keyed: keyed.shuffle(),
    "rebalance": lambda keyed: keyed.rebalance(),
    "rescale": lambda keyed: keyed.rescale(),
    "forward": lambda keyed: keyed.forward(),
    "global_": lambda keyed: keyed.global_(),
    "broadcast": lambda keyed: keyed.broadcast(MapStateDescriptor("rules", str, str)),
    "partition_custom": lambda keyed: keyed.partition_custom(lambda key, n: 0, lambda value: value),
}


@pytest.mark.parametrize("call", PARTITIONINGS)
def test_the_partitioning_of_a_keyed_stream_cannot_be_overridden(call: str) -> None:
    """P9, G5"""
    env = StreamExecutionEnvironment(Configuration({"penstock.host": "local"}))
    keyed = env.from_collection([1, 2]).key_by(lambda n: n)
    message = rf"{call}\(\) cannot override the partitioning of a stream that was keyed after 'Source: Collection'"
    with pytest.raises(ProgramError, match=message):
        PARTITIONINGS[call](keyed)
    assert sorted(keyed.key_by(lambda n: -n).map(lambda n: n).execute_and_collect()) == [1, 2]


# -- whole numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type_info", "given", "expected"),
    [
        (Types.BYTE(), [127, 128, -129, 300, 2**40], [127, -128, 127, 44, 0]),
        (Types.SHORT(), [32767, 43878, -32769, 2**40], [32767, -21658, 32767, 0]),
        (Types.INT(), [2147483647, 9147483648, -(2**31) - 1], [2147483647, 557549056, 2147483647]),
        (Types.LONG(), [2**63 - 1, -(2**63)], [2**63 - 1, -(2**63)]),
        (Types.TUPLE([Types.SHORT(), Types.LONG()]), [(43878, 43878)], [(-21658, 43878)]),
        (Types.LIST(Types.BYTE()), [[300]], [[44]]),
        (Types.STRING(), [1, "a"], ["1", "a"]),
    ],
)
def test_a_number_that_does_not_fit_its_type_is_what_pyflink_makes_of_it(
    type_info: TypeInformation, given: list[Any], expected: list[Any]
) -> None:
    """P7"""
    env = StreamExecutionEnvironment(Configuration({"penstock.host": "local"})).set_parallelism(1)
    assert list(env.from_collection(given, type_info).execute_and_collect()) == expected


@pytest.mark.parametrize("type_info", [Types.BYTE(), Types.SHORT(), Types.INT(), Types.LONG()])
def test_a_number_of_more_than_64_bits_is_refused(type_info: TypeInformation) -> None:
    """P9"""
    env = StreamExecutionEnvironment(Configuration({"penstock.host": "local"}))
    with pytest.raises(PenstockError, match=r"9223372036854775808 .* it does not fit in 64 bits"):
        env.from_collection([2**63], type_info)
