"""Settings of the environment: those that mean something here are mapped, the others warn once (P12)."""

import copy
import json
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.common import (
    ConfigOptions,
    Configuration,
    Duration,
    Encoder,
    ExecutionConfig,
    Time,
    Types,
    WatermarkStrategy,
)
from penstock.core.config.compat import NO_EFFECT, CompatibilityWarning, forget_warnings, warn_about_settings, warn_once
from penstock.core.config.options.job import JOB_PARAMETERS
from penstock.core.errors import ConfigurationError, ProgramError
from penstock.datastream import (
    CheckpointingMode,
    EmbeddedRocksDBStateBackend,
    ExternalizedCheckpointRetention,
    FileSystemCheckpointStorage,
    FsStateBackend,
    HashMapStateBackend,
    JobManagerCheckpointStorage,
    KeyedProcessFunction,
    MapFunction,
    MemorySize,
    MemoryStateBackend,
    OutputTag,
    PredefinedOptions,
    RocksDBStateBackend,
    RuntimeExecutionMode,
    SlotSharingGroup,
    StreamExecutionEnvironment,
    TimeDomain,
)
from penstock.datastream.connectors import JdbcConnectionOptions, JdbcExecutionOptions
from penstock.datastream.connectors.file_system import (
    FileCompactor,
    FileCompactStrategy,
    FileSink,
    FileSource,
    FileSplitAssignerProvider,
    RollingPolicy,
    StreamFormat,
)
from penstock.datastream.formats.csv import CsvSchema
from penstock.datastream.formats.orc import OrcBulkWriters
from penstock.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat
from penstock.datastream.state import StateTtlConfig
from penstock.launch import launch, plan_options
from penstock.table import DataTypes


@pytest.fixture(autouse=True)
def _nothing_warned_about() -> Iterator[None]:
    forget_warnings()
    yield
    forget_warnings()


def environment(**conf: Any) -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment(Configuration({"penstock.host": "local", **conf}))


def settings_of(env: StreamExecutionEnvironment) -> dict[str, str]:
    return env.get_configuration().to_dict()


def seen_by(action: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        action()
    return [str(w.message) for w in seen if issubclass(w.category, CompatibilityWarning)]


# -- settings with an effect --------------------------------------------------------------------------


def test_the_execution_config_is_a_view_of_the_configuration() -> None:
    """P3, T9, S7"""
    env = environment()
    config = env.get_config().set_parallelism(3).set_max_parallelism(64).enable_object_reuse()
    config.set_auto_watermark_interval(0)
    assert (env.get_parallelism(), env.get_max_parallelism()) == (3, 64)
    options = plan_options(env.get_configuration(), "local", 3, 64)
    assert options.settings.object_reuse
    assert not options.settings.periodic_watermarks
    assert (config.is_object_reuse_enabled(), config.get_auto_watermark_interval()) == (True, 0)
    assert not config.disable_object_reuse().is_object_reuse_enabled()
    assert config.set_parallelism(ExecutionConfig.PARALLELISM_DEFAULT).get_parallelism() == -1
    assert config == env.get_config()
    assert hash(config) == hash(env.get_config())
    assert env.from_collection([1]).get_execution_config() == config


@pytest.mark.parametrize(("text", "periodic"), [("0", False), ("0 s", False), ("200", True), ("1 min", True)])
def test_the_watermark_interval_is_a_duration(text: str, periodic: bool) -> None:
    """T9"""
    conf = Configuration({"pipeline.auto-watermark-interval": text})
    assert plan_options(conf, "local", 1, 128).settings.periodic_watermarks is periodic


class Asks(MapFunction):
    def open(self, runtime_context: Any) -> None:
        self.found = [runtime_context.get_job_parameter(k, "-") for k in ("colour", "size", "none")]

    def map(self, value: Any) -> Any:
        return self.found


def test_global_job_parameters_reach_functions() -> None:
    """P6"""
    env = environment()
    env.get_config().set_global_job_parameters({"colour": "red", "size": 5})
    assert env.get_config().get_global_job_parameters() == {"colour": "red", "size": "5"}
    assert list(env.from_collection([1]).map(Asks()).execute_and_collect()) == [["red", "5", "-"]]


def test_global_job_parameters_may_come_from_a_file() -> None:
    """P6, P9"""
    key = "pipeline.global-job-parameters"
    assert Configuration({key: "a:1, b:x:y"}).get(JOB_PARAMETERS) == {"a": "1", "b": "x:y"}
    with pytest.raises(ConfigurationError, match=r"must be of the form key:value,key:value, got 'a'"):
        Configuration({key: "a"}).get(JOB_PARAMETERS)


def test_uids_may_be_demanded() -> None:
    """P9"""
    env = environment()
    assert env.get_config().has_auto_generated_uids_enabled()
    env.get_config().disable_auto_generated_uids()
    stream = env.from_collection([1]).uid("source").map(str)
    with pytest.raises(ProgramError, match=r"Operator 'Map' has no uid, .* give it one with \.uid\(\.\.\.\)"):
        list(stream.execute_and_collect())
    env.get_config().enable_auto_generated_uids()
    assert list(stream.execute_and_collect()) == ["1"]


def test_checkpoints_are_asked_for_under_flinks_keys() -> None:
    """F2, S6"""
    env = environment()
    config = env.get_checkpoint_config()
    assert (config.is_checkpointing_enabled(), env.get_checkpoint_interval()) == (False, -1)
    env.enable_checkpointing(500, CheckpointingMode.EXACTLY_ONCE)
    config.set_checkpoint_storage_dir("file:///data/ckpt")
    assert (config.is_checkpointing_enabled(), env.get_checkpoint_interval()) == (True, 500)
    assert settings_of(env)["execution.checkpointing.dir"] == "file:///data/ckpt"
    assert env.get_checkpointing_mode() is env.get_checkpointing_consistency_mode() is CheckpointingMode.EXACTLY_ONCE
    assert config.set_checkpoint_interval(700).get_checkpoint_interval() == 700


@pytest.mark.parametrize("mode", RuntimeExecutionMode)
def test_the_runtime_mode_is_a_setting(mode: RuntimeExecutionMode) -> None:
    """P5"""
    env = environment()
    assert env.set_runtime_mode(mode) is env
    assert settings_of(env)["execution.runtime-mode"] == mode.name


def test_chaining_and_default_parallelism() -> None:
    """G2, P3"""
    env = environment()
    assert env.is_chaining_enabled()
    assert not env.disable_operator_chaining().is_chaining_enabled()
    assert env.is_chaining_of_operators_with_different_max_parallelism_enabled()
    env.set_default_local_parallelism(7)
    assert (env.get_default_local_parallelism(), env.get_parallelism()) == (7, 7)
    assert env.set_parallelism(2).get_parallelism() == 2


@pytest.mark.parametrize(
    ("backend", "kind", "folder"),
    [
        (HashMapStateBackend(), "hashmap", None),
        (EmbeddedRocksDBStateBackend(True), "rocksdb", None),
        (MemoryStateBackend(), "hashmap", None),
        (MemoryStateBackend("/m"), "hashmap", "/m"),
        (FsStateBackend("/fs", "/savepoints"), "hashmap", "/fs"),
        (RocksDBStateBackend("/rocks"), "rocksdb", "/rocks"),
        (RocksDBStateBackend(checkpoint_stream_backend=FsStateBackend("/fs")), "rocksdb", "/fs"),
    ],
)
def test_state_backends_are_mapped_to_where_checkpoints_are(backend: Any, kind: str, folder: str | None) -> None:
    """S6, X5"""
    env = environment()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompatibilityWarning)
        env.set_state_backend(backend)
    said = settings_of(env)
    assert (said["state.backend.type"], said.get("execution.checkpointing.dir")) == (kind, folder)
    assert str(backend).startswith(type(backend).__name__)


def test_what_rocksdb_has_is_asked_for_in_silence() -> None:
    """P12: nothing to warn about where a setting asks for what happens anyway."""
    env = environment()
    assert seen_by(lambda: env.set_state_backend(EmbeddedRocksDBStateBackend(True))) == []
    retain = ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION
    config = env.get_checkpoint_config()
    assert seen_by(lambda: config.set_externalized_checkpoint_retention(retain)) == []
    assert seen_by(lambda: config.set_checkpointing_mode(CheckpointingMode.EXACTLY_ONCE)) == []
    assert seen_by(lambda: warn_about_settings(env.get_configuration())) == []


# -- settings without one -----------------------------------------------------------------------------


def file_sink() -> Any:
    return FileSink.for_row_format("/tmp/out", Encoder.simple_string_encoder())


def _accepted() -> dict[str, tuple[Callable[[], Any], ...]]:
    """For every setting of the registry, the calls that make it."""
    env = environment()
    config, checkpoints, stream = env.get_config(), env.get_checkpoint_config(), env.from_collection([1])
    rocks, group = EmbeddedRocksDBStateBackend(), SlotSharingGroup.builder("g").build()
    prefix = "execution.checkpointing."
    hadoop = Configuration({"fs.s3a.endpoint": "x"})
    return {
        "execution.buffer-timeout.interval": (lambda: env.set_buffer_timeout(10),),
        "StateTtlConfig.cleanup_in_rocksdb_compact_filter": (
            lambda: StateTtlConfig.new_builder(Time.hours(1)).cleanup_in_rocksdb_compact_filter(1),
        ),
        "WatermarkStrategy.with_watermark_alignment": (
            lambda: WatermarkStrategy.no_watermarks().with_watermark_alignment("g", Duration.of_seconds(1)),
        ),
        f"{prefix}aligned-checkpoint-timeout": (
            lambda: checkpoints.set_aligned_checkpoint_timeout(Duration.of_seconds(1)),
            lambda: checkpoints.set_alignment_timeout(Duration.of_seconds(1)),
        ),
        f"{prefix}externalized-checkpoint-retention": (
            lambda: checkpoints.set_externalized_checkpoint_retention(
                ExternalizedCheckpointRetention.DELETE_ON_CANCELLATION
            ),
        ),
        f"{prefix}max-concurrent-checkpoints": (lambda: checkpoints.set_max_concurrent_checkpoints(2),),
        f"{prefix}min-pause": (lambda: checkpoints.set_min_pause_between_checkpoints(5),),
        f"{prefix}mode": (
            lambda: checkpoints.set_checkpointing_mode(CheckpointingMode.AT_LEAST_ONCE),
            lambda: env.enable_checkpointing(5, CheckpointingMode.AT_LEAST_ONCE),
        ),
        f"{prefix}snapshot-compression": (lambda: config.set_use_snapshot_compression(True),),
        f"{prefix}timeout": (lambda: checkpoints.set_checkpoint_timeout(5),),
        f"{prefix}tolerable-failed-checkpoints": (
            lambda: checkpoints.set_tolerable_checkpoint_failure_number(2),
            lambda: checkpoints.set_fail_on_checkpointing_errors(False),
        ),
        f"{prefix}unaligned.enabled": (lambda: checkpoints.enable_unaligned_checkpoints(),),
        f"{prefix}unaligned.forced": (lambda: checkpoints.set_force_unaligned_checkpoints(),),
        "metrics.latency.interval": (lambda: config.set_latency_tracking_interval(5),),
        "pipeline.classpaths": (lambda: env.add_classpaths("file:///a.jar"),),
        "pipeline.closure-cleaner-level": (config.enable_closure_cleaner, config.disable_closure_cleaner),
        "pipeline.force-avro": (config.enable_force_avro,),
        "pipeline.force-kryo": (config.enable_force_kryo,),
        "pipeline.generic-types": (config.disable_generic_types,),
        "pipeline.jars": (lambda: env.add_jars("file:///a.jar", "file:///b.jar"),),
        "state.changelog.enabled": (lambda: env.enable_changelog_state_backend(False),),
        f"{prefix}incremental": (lambda: env.set_state_backend(EmbeddedRocksDBStateBackend(False)),),
        "state.backend.type": (lambda: env.set_state_backend(HashMapStateBackend()),),
        "task.cancellation.interval": (lambda: config.set_task_cancellation_interval(5),),
        "task.cancellation.timeout": (lambda: config.set_task_cancellation_timeout(5),),
        "CheckpointStorage.file_state_size_threshold": (lambda: FileSystemCheckpointStorage("/c", 5),),
        "CheckpointStorage.max_state_size": (lambda: JobManagerCheckpointStorage(None, 5),),
        "CheckpointStorage.write_buffer_size": (lambda: FileSystemCheckpointStorage("/c", None, 5),),
        "DataStream.set_buffer_timeout": (lambda: stream.set_buffer_timeout(5),),
        "DataStream.set_max_parallelism": (lambda: stream.set_max_parallelism(5),),
        "DataStream.set_uid_hash": (lambda: stream.set_uid_hash("ab"),),
        "DataStream.slot_sharing_group": (
            lambda: stream.slot_sharing_group("g"),
            lambda: stream.slot_sharing_group(group),
            lambda: stream.print().slot_sharing_group("g"),
        ),
        "CsvSchemaBuilder.set_strict_headers": (lambda: CsvSchema.builder().set_strict_headers().build(),),
        "DataTypes.BINARY.length": (lambda: DataTypes.BINARY(5),),
        "DataTypes.CHAR.length": (lambda: DataTypes.CHAR(5),),
        "DataTypes.FIELD.description": (lambda: DataTypes.FIELD("a", DataTypes.INT(), "what it is"),),
        "DataTypes.TIME.precision": (lambda: DataTypes.TIME(3),),
        "DataTypes.TIMESTAMP.precision": (lambda: DataTypes.TIMESTAMP(3), lambda: DataTypes.TIMESTAMP(0)),
        "DataTypes.TIMESTAMP_LTZ.precision": (
            lambda: DataTypes.TIMESTAMP_LTZ(3),
            lambda: DataTypes.TIMESTAMP_WITH_LOCAL_TIME_ZONE(9),
        ),
        "DataTypes.VARBINARY.length": (lambda: DataTypes.VARBINARY(5),),
        "DataTypes.VARCHAR.length": (lambda: DataTypes.VARCHAR(5),),
        "DataTypes.bridged_to": (lambda: DataTypes.DATE().bridged_to("java.sql.Date"),),
        "DataTypes.nullable": (lambda: DataTypes.INT(nullable=False), lambda: DataTypes.INT().not_null()),
        "EmbeddedRocksDBStateBackend.set_db_storage_paths": (lambda: rocks.set_db_storage_paths("/a", "/b"),),
        "EmbeddedRocksDBStateBackend.set_number_of_transfer_threads": (
            lambda: rocks.set_number_of_transfer_threads(2),
        ),
        "EmbeddedRocksDBStateBackend.set_options": (lambda: rocks.set_options("org.example.Options"),),
        "EmbeddedRocksDBStateBackend.set_predefined_options": (
            lambda: rocks.set_predefined_options(PredefinedOptions.FLASH_SSD_OPTIMIZED),
        ),
        "FileSink.enable_compact": (
            lambda: file_sink().enable_compact(
                FileCompactStrategy.builder().set_size_threshold(9).build(), FileCompactor.identical_file_compactor()
            ),
        ),
        "FileSink.with_bucket_check_interval": (lambda: file_sink().with_bucket_check_interval(5),),
        "FileSourceBuilder.set_split_assigner": (
            lambda: FileSource.for_record_stream_format(StreamFormat.text_line_format(), "x").set_split_assigner(
                FileSplitAssignerProvider.locality_aware_split_assigner()
            ),
        ),
        "JdbcConnectionOptions.with_driver_name": (
            lambda: (
                JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
                .with_url("jdbc:sqlite:x")
                .with_driver_name("com.mysql.jdbc.Driver")
                .build()
            ),
        ),
        "JdbcExecutionOptions.with_batch_interval_ms": (
            lambda: JdbcExecutionOptions.builder().with_batch_interval_ms(200),
        ),
        "OrcBulkWriters.hadoop_config": (lambda: OrcBulkWriters.for_row_type(DataTypes.ROW(), None, hadoop),),
        "OrcBulkWriters.writer_properties": (lambda: OrcBulkWriters.for_row_type(DataTypes.ROW(), hadoop),),
        "ParquetBulkWriters.hadoop_config": (lambda: ParquetBulkWriters.for_row_type(DataTypes.ROW(), hadoop),),
        "ParquetColumnarRowInputFormat.hadoop_config": (
            lambda: ParquetColumnarRowInputFormat(DataTypes.ROW(), hadoop),
        ),
        "RollingPolicy.inactivity_interval": (lambda: RollingPolicy.default_rolling_policy(inactivity_interval=5),),
        "RollingPolicy.rollover_interval": (lambda: RollingPolicy.default_rolling_policy(rollover_interval=5),),
        "StateBackend.using_asynchronous_snapshots": (
            lambda: MemoryStateBackend(using_asynchronous_snapshots=True),
            lambda: FsStateBackend("/c", using_asynchronous_snapshots=False),
        ),
        "StreamExecutionEnvironment.register_slot_sharing_group": (lambda: env.register_slot_sharing_group(group),),
        "StreamExecutionEnvironment.set_python_executable": (lambda: _run_with_python("/no/such/python"),),
    }


def _run_with_python(executable: str) -> None:
    env = environment()
    env.set_python_executable(executable)
    assert list(env.from_collection([1]).execute_and_collect()) == [1]


ONLY_AS_KEYS = {
    "execution.checkpointing.create-subdir": "false",
    "execution.checkpointing.num-retained": "5",
    "execution.checkpointing.storage": "jobmanager",
    "execution.checkpointing.mode": "AT_LEAST_ONCE",
    "execution.state-recovery.claim-mode": "CLAIM",
    "pipeline.operator-chaining.chain-operators-with-different-max-parallelism": "false",
    "cluster.*": "1",
    "heartbeat.*": "1",
    "high-availability*": "zookeeper",
    "jobmanager.*": "1",
    "python.fn-execution.*": "1",
    "rest.*": "1",
    "state.backend.rocksdb.*": "1",
    "taskmanager.*": "1",
}


def test_everything_in_the_registry_can_be_said() -> None:
    """P12: no entry is dead."""
    assert NO_EFFECT.keys() == _accepted().keys() | ONLY_AS_KEYS.keys()


@pytest.mark.parametrize(("setting", "number"), [(s, n) for s, calls in _accepted().items() for n in range(len(calls))])
def test_a_setting_without_effect_warns_once(setting: str, number: int) -> None:
    """P12"""
    forget_warnings()
    call = _accepted()[setting][number]
    forget_warnings()
    expected = f"{setting} has no effect: {NO_EFFECT[setting]}"
    said = seen_by(call)
    assert said.count(expected) == 1
    assert expected not in seen_by(call)


@pytest.mark.parametrize("setting", sorted(s for s in NO_EFFECT if not s[0].isupper()))
def test_the_same_setting_in_a_file_warns_when_the_job_is_launched(setting: str) -> None:
    """P12"""
    key = setting.replace("*", "memory.size" if setting.endswith(".*") else "")
    env = environment(**{key: ONLY_AS_KEYS.get(setting, "something")})
    env.from_collection([1]).print()
    graph, conf = env.get_stream_graph(), env.get_configuration()
    assert seen_by(lambda: launch(graph, conf, 1, 128)) == [f"{setting} has no effect: {NO_EFFECT[setting]}"]


def test_a_warning_names_the_line_of_the_program() -> None:
    """P12"""
    with pytest.warns(CompatibilityWarning, match="buffer-timeout.interval has no effect") as seen:
        environment().set_buffer_timeout(5)
    assert seen[0].filename == __file__
    with pytest.warns(CompatibilityWarning, match="set_uid_hash has no effect") as seen:
        environment().from_collection([1]).set_uid_hash("ab")
    assert seen[0].filename == __file__


def test_only_what_is_registered_can_be_warned_about() -> None:
    """P12: docs/parity.md lists the registry, so nothing may pass it by."""
    with pytest.raises(KeyError):
        warn_once("something else")


def test_what_was_set_without_effect_can_be_read_back() -> None:
    """P12"""
    env = environment()
    config, checkpoints = env.get_config(), env.get_checkpoint_config()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompatibilityWarning)
        for calls in _accepted().values():
            for call in calls:
                call()
        env.set_buffer_timeout(-1)
        env.enable_changelog_state_backend(True).set_default_savepoint_directory("/s").add_jars("a.jar")
        env.add_jars("b.jar")
        checkpoints.set_checkpoint_timeout(5).set_min_pause_between_checkpoints(6).set_max_concurrent_checkpoints(2)
        checkpoints.enable_unaligned_checkpoints().set_force_unaligned_checkpoints()
        checkpoints.set_fail_on_checkpointing_errors(False).set_alignment_timeout(Duration.of_seconds(2))
        checkpoints.set_externalized_checkpoint_retention(ExternalizedCheckpointRetention.DELETE_ON_CANCELLATION)
        config.set_latency_tracking_interval(7).set_task_cancellation_interval(8).set_task_cancellation_timeout(9)
        config.disable_closure_cleaner().disable_generic_types().enable_force_avro().enable_force_kryo()
        config.set_use_snapshot_compression(True)
    assert (env.get_buffer_timeout(), env.is_changelog_state_backend_enabled()) == (-1, True)
    assert env.get_default_savepoint_directory() == "/s"
    assert Configuration.parse_list_value(settings_of(env)["pipeline.jars"]) == ["a.jar", "b.jar"]
    assert checkpoints.get_checkpoint_timeout() == 5
    assert checkpoints.get_min_pause_between_checkpoints() == 6
    assert checkpoints.get_max_concurrent_checkpoints() == 2
    assert checkpoints.is_unaligned_checkpoints_enabled()
    assert env.is_unaligned_checkpoints_enabled()
    assert env.is_force_unaligned_checkpoints()
    assert not checkpoints.disable_unaligned_checkpoints().is_unaligned_checkpoints_enabled()
    assert not checkpoints.is_fail_on_checkpointing_errors()
    assert checkpoints.get_alignment_timeout() == Duration.of_seconds(2)
    assert checkpoints.is_externalized_checkpoints_enabled()
    assert config.get_latency_tracking_interval() == 7
    assert config.get_task_cancellation_interval() == 8
    assert config.get_task_cancellation_timeout() == 9
    assert (config.is_closure_cleaner_enabled(), config.has_generic_types_disabled()) == (False, True)
    assert (config.is_force_avro_enabled(), config.is_force_kryo_enabled()) == (True, True)
    assert config.is_use_snapshot_compression()


def test_defaults_are_flinks() -> None:
    """P12"""
    env = environment()
    config, checkpoints = env.get_config(), env.get_checkpoint_config()
    assert (env.get_buffer_timeout(), env.is_changelog_state_backend_enabled()) == (100, None)
    assert env.get_default_savepoint_directory() is None
    assert (config.get_auto_watermark_interval(), config.get_global_job_parameters()) == (200, {})
    assert (config.is_closure_cleaner_enabled(), config.has_generic_types_disabled()) == (True, False)
    assert checkpoints.get_checkpoint_timeout() == 600_000
    assert checkpoints.is_fail_on_checkpointing_errors()
    assert not checkpoints.is_externalized_checkpoints_enabled()
    storage = FileSystemCheckpointStorage("/c")
    assert (storage.get_min_file_size_threshold(), storage.get_write_buffer_size()) == (20_480, 4096)
    assert (storage.get_savepoint_path(), str(storage)) == (None, "FileSystemCheckpointStorage(/c)")
    rocks = EmbeddedRocksDBStateBackend()
    assert (rocks.get_db_storage_paths(), rocks.get_options(), rocks.get_number_of_transfer_threads()) == ([], None, 4)
    assert rocks.get_predefined_options() is PredefinedOptions.DEFAULT


# -- an operator's own maximum ------------------------------------------------------------------------


def test_an_operators_own_maximum_bounds_its_parallelism() -> None:
    """P3, P9"""
    env = environment().set_parallelism(4)
    with pytest.warns(CompatibilityWarning, match="key groups are the job's"):
        stream = env.from_collection([1]).map(str).set_max_parallelism(2)
    with pytest.raises(ProgramError, match="Operator 'Map' asks for parallelism 4, but its own maximum is 2"):
        list(stream.execute_and_collect())
    stream.set_parallelism(2)
    assert list(stream.execute_and_collect()) == ["1"]


# -- slots --------------------------------------------------------------------------------------------


def test_a_slot_sharing_group_says_what_it_was_built_with() -> None:
    """O1"""
    builder = SlotSharingGroup.builder("g").set_cpu_cores(1.5).set_task_heap_memory_mb(2)
    builder.set_task_off_heap_memory(MemorySize(1024)).set_managed_memory_mb(3).set_external_resource("gpu", 1.0)
    group = builder.build()
    assert (group.get_name(), group.get_cpu_cores(), group.get_external_resources()) == ("g", 1.5, {"gpu": 1.0})
    assert group.get_task_heap_memory() == MemorySize.of_mebi_bytes(2)
    assert group.get_task_off_heap_memory() == MemorySize(1024)
    assert group.get_managed_memory() == MemorySize.of_mebi_bytes(3)
    assert group == builder.build()
    assert hash(group) == hash(builder.build())
    size = MemorySize.of_mebi_bytes(5 << 20)
    assert (size.get_kibi_bytes(), size.get_mebi_bytes(), size.get_gibi_bytes(), size.get_tebi_bytes()) == (
        5 << 30,
        5 << 20,
        5 << 10,
        5,
    )
    assert MemorySize(1) < MemorySize(2) <= MemorySize(2)


# -- refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: environment().set_runtime_mode("BATCH"), TypeError, "takes a RuntimeExecutionMode, got str"),
        (lambda: environment().set_state_backend("rocksdb"), TypeError, "takes a StateBackend, got str"),
        (lambda: environment().register_slot_sharing_group("g"), TypeError, "takes a SlotSharingGroup, got str"),
        (
            lambda: environment().from_collection([1]).slot_sharing_group(5),
            TypeError,
            "takes a name or a SlotSharingGroup, got int",
        ),
        (lambda: environment().set_default_local_parallelism(0), ProgramError, "must be a whole number of at least 1"),
        (
            lambda: environment().from_collection([1]).set_max_parallelism(0),
            ProgramError,
            "Operator 'Source: Collection': the maximum parallelism must be at least 1, got 0",
        ),
        (lambda: environment().get_config().set_parallelism(0), ConfigurationError, "at least 1, got 0"),
        (
            lambda: environment().get_config().set_auto_watermark_interval(-1),
            ConfigurationError,
            "must not be negative",
        ),
        (
            lambda: environment().get_checkpoint_config().set_checkpoint_interval(0),
            ConfigurationError,
            "interval must be a whole number of at least 1, got 0",
        ),
        (
            lambda: environment().get_checkpoint_config().set_checkpoint_storage("/c"),
            TypeError,
            "takes a CheckpointStorage, got str",
        ),
        (lambda: FileSystemCheckpointStorage(), ValueError, "checkpoint_path must not be None"),
        (lambda: EmbeddedRocksDBStateBackend("yes"), TypeError, "is True, False or None, got 'yes'"),
        (lambda: RocksDBStateBackend(), ValueError, "takes either checkpoint_data_uri or checkpoint_stream_backend"),
        (lambda: MemorySize(-1), ValueError, "a number of bytes that is not negative, got -1"),
        (lambda: SlotSharingGroup.builder("g").set_cpu_cores(1).build(), ValueError, "needs both cpu cores and task"),
    ],
)
def test_settings_that_make_no_sense_are_refused(call: Any, error: type[Exception], message: str) -> None:
    """P9"""
    with pytest.raises(error, match=message):
        call()


# -- the configuration itself -------------------------------------------------------------------------


def test_a_configuration_holds_bytes_lists_and_options() -> None:
    """P3"""
    conf = Configuration.from_dict({"a": "1"}).set_bytearray("b", bytearray(b"\x00\xff"))
    assert conf.get_bytearray("b", b"") == bytearray(b"\x00\xff")
    assert conf.get_bytearray("none", b"x") == bytearray(b"x")
    target = {"old": "1"}
    conf.add_all_to_dict(target)
    assert target.keys() == {"old", "a", "b"}
    assert conf.add_all(Configuration({"c": "2"}), "p.") is conf
    assert conf.get_string("p.c", "") == "2"
    assert copy.deepcopy(conf) == conf
    assert str(Configuration({"a": 1})) == "{a=1}"
    with pytest.raises(ConfigurationError, match="Setting 'a' does not hold bytes, got '1'"):
        conf.get_bytearray("a", b"")


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("", []),
        (None, []),
        ("a;b", ["a", "b"]),
        ("['a', 'b']", ["a", "b"]),
        ('[a, "b"]', ["a", "b"]),
        ("- a\n- 'b'\n", ["a", "b"]),
        ("one", ["one"]),
    ],
)
def test_lists_in_settings(text: str | None, items: list[str]) -> None:
    """P3"""
    assert Configuration.parse_list_value(text) == items


def test_options_carry_type_and_default() -> None:
    """P3"""
    conf = Configuration({"i": "5", "f": "1.5", "yes": "true", "s": "x"})
    key = ConfigOptions.key
    assert conf.get(key("i").int_type().default_value(1)) == 5
    assert conf.get(key("i").long_type().no_default_value()) == 5
    assert (
        conf.get(key("f").float_type().default_value(0.0)),
        conf.get(key("f").double_type().default_value(0.0)),
    ) == (
        1.5,
        1.5,
    )
    assert conf.get(key("yes").boolean_type().default_value(False)) is True
    assert conf.get(key("s").string_type().no_default_value()) == "x"
    missing = key("missing").int_type()
    assert conf.get(missing.default_value(3)) == 3
    assert conf.get(missing.default_value(3), 4) == 4
    assert conf.get(missing.no_default_value()) is None
    assert conf.set(missing.default_value(3), 9).get(missing.default_value(3)) == 9


class Domain(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(5)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.time_domain()


def test_a_timers_domain_is_pyflinks_enum() -> None:
    """S4"""
    stream = environment().from_collection([1]).key_by(str).process(Domain())
    assert list(stream.execute_and_collect()) == [TimeDomain.EVENT_TIME]


def test_the_plan_as_json_is_json() -> None:
    """G1"""
    env = environment()
    env.from_collection([1]).print()
    assert json.loads(env.get_execution_plan())["nodes"]


def test_a_stream_knows_the_type_it_was_given() -> None:
    """P7"""
    tag = OutputTag("side", Types.STRING())
    numbers = environment().from_collection([1], Types.INT())
    assert numbers.get_type() == Types.INT()
    assert numbers.filter(bool).rebalance().get_type() == Types.INT()
    assert numbers.assign_timestamps_and_watermarks(WatermarkStrategy.no_watermarks()).get_type() == Types.INT()
    assert numbers.key_by(str).reduce(max).get_type() == Types.INT()
    assert numbers.map(str).get_type() == Types.PICKLED_BYTE_ARRAY()
    assert numbers.map(str, Types.STRING()).get_type() == Types.STRING()
    assert numbers.flat_map(lambda n: [n], Types.LONG()).union(numbers).get_type() == Types.LONG()
    keyed = numbers.key_by(str).process(Domain(), Types.FLOAT())
    assert keyed.get_type() == Types.FLOAT()
    assert keyed.get_side_output(tag).get_type() == Types.STRING()
    assert keyed.get_side_output(OutputTag("other")).get_type() == Types.PICKLED_BYTE_ARRAY()
