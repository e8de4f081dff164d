"""Older names of Flink's settings are honoured; names that nobody knows are pointed out (P12)."""

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration
from penstock.core.config.compat import HONOURED, NO_EFFECT, CompatibilityWarning, forget_warnings, warn_about_settings
from penstock.core.config.known_settings import flink_settings, nearest_known, newest_name, with_newest_names
from penstock.core.config.recovery import Recovery
from penstock.datastream import CheckpointingMode, StreamExecutionEnvironment
from penstock.jobs.restart import FailureRate, FixedDelay, NoRestart, restart_strategy
from penstock.launch import choose_host, plan_options
from penstock.spark.startup.settings import _DEFAULTS, FORCED

SOURCE = Path(__file__).parents[2] / "src" / "penstock"


def environment(**settings: str) -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment(Configuration({"penstock.host": "local", **settings}))


def said(settings: dict[str, str]) -> list[str]:
    """What is warned about when a job with these settings is started."""
    forget_warnings()
    env = environment(**settings)
    env.from_collection([1]).print()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        env.execute()
    return [str(w.message) for w in seen if issubclass(w.category, CompatibilityWarning)]


# -- older names --------------------------------------------------------------------------------------


def test_a_checkpoint_folder_under_its_older_name_is_one() -> None:
    """P12, S6: the job is durable, so it runs on the host that keeps state."""
    for name in ("execution.checkpointing.dir", "state.checkpoints.dir", "state.backend.fs.checkpointdir"):
        env = StreamExecutionEnvironment(Configuration({name: "/data/checkpoint"}))
        env.from_collection([1]).print()
        assert choose_host(env.get_stream_graph(), env.get_configuration()) == "streaming", name


READINGS: dict[str, tuple[str, Callable[[StreamExecutionEnvironment], Any], Any]] = {
    "pipeline.operator-chaining": ("false", lambda env: env.is_chaining_enabled(), False),
    "execution.buffer-timeout": ("5 s", lambda env: env.get_buffer_timeout(), 5000),
    "execution.checkpointing.unaligned": ("true", lambda env: env.is_unaligned_checkpoints_enabled(), True),
    "execution.checkpointing.alignment-timeout": (
        "3 s",
        lambda env: env.get_checkpoint_config().get_alignment_timeout().to_milliseconds(),
        3000,
    ),
    "task.cancellation-interval": ("7 s", lambda env: env.get_config().get_task_cancellation_interval(), 7000),
    "state.savepoints.dir": ("/s", lambda env: env.get_default_savepoint_directory(), "/s"),
    "savepoints.state.backend.fs.dir": ("/s", lambda env: env.get_default_savepoint_directory(), "/s"),
    "state.backend.changelog.enabled": ("true", lambda env: env.is_changelog_state_backend_enabled(), True),
    "execution.savepoint.path": ("/p", lambda env: Recovery.of(env.get_configuration()).savepoint, "/p"),
    "execution.savepoint.ignore-unclaimed-state": (
        "true",
        lambda env: Recovery.of(env.get_configuration()).allow_unclaimed,
        True,
    ),
}


@pytest.mark.parametrize("older", READINGS)
def test_an_older_name_is_read_where_its_newest_is(older: str) -> None:
    """P12"""
    value, read, expected = READINGS[older]
    assert read(environment(**{older: value})) == read(environment(**{newest_name(older): value})) == expected


def test_chaining_is_switched_off_under_its_older_name() -> None:
    """P12"""
    assert not plan_options(Configuration({"pipeline.operator-chaining": "false"}), "local", 1, 128).chaining


@pytest.mark.parametrize(
    ("value", "kind"), [("none", NoRestart), ("fixed-delay", FixedDelay), ("failure-rate", FailureRate)]
)
def test_the_restart_strategy_under_its_older_name(value: str, kind: type) -> None:
    """F3, P12"""
    assert type(restart_strategy(Configuration({"restart-strategy": value}))) is kind


def test_every_older_name_of_an_honoured_setting_is_read() -> None:
    """P12"""
    for newest in HONOURED:
        for older in flink_settings()[newest]:
            assert with_newest_names(Configuration({older: "x"})).get_string(newest, "") == "x"
            assert not any("effect" in line for line in warnings_about({older: "x"})), older


def warnings_about(settings: dict[str, str]) -> list[str]:
    forget_warnings()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warn_about_settings(Configuration(settings))
    return [str(w.message) for w in seen]


def test_the_newest_name_wins_with_a_warning() -> None:
    """P12"""
    settings = {"execution.checkpointing.savepoint-dir": "/new", "state.savepoints.dir": "/old"}
    assert environment(**settings).get_default_savepoint_directory() == "/new"
    assert said(settings) == [
        "state.savepoints.dir has no effect: execution.checkpointing.savepoint-dir, its newer name, is set as well "
        "and holds"
    ]
    assert said({**settings, "state.savepoints.dir": "/new"}) == []


def test_of_two_older_names_the_later_one_wins() -> None:
    """P12: as in Flink."""
    settings = {"state.savepoints.dir": "/b", "savepoints.state.backend.fs.dir": "/a"}
    first = flink_settings()["execution.checkpointing.savepoint-dir"][0]
    assert environment(**settings).get_default_savepoint_directory() == settings[first]
    assert len(said(settings)) == 1


def test_the_name_that_a_program_sets_is_stronger_than_an_older_one_of_a_file() -> None:
    """P3"""
    env = environment(**{"pipeline.operator-chaining": "true"})
    assert not env.disable_operator_chaining().is_chaining_enabled()
    config = environment(**{"state.checkpoints.dir": "/old"}).get_checkpoint_config()
    assert config.set_checkpoint_storage_dir("/new")._said.get_string("execution.checkpointing.dir", "") == "/new"


def test_the_configuration_itself_keeps_names_as_they_were_given() -> None:
    """P3: PyFlink's Configuration looks names up as they are."""
    env = environment(**{"state.checkpoints.dir": "/c"})
    assert not env.get_configuration().contains_key("execution.checkpointing.dir")
    assert env.get_configuration().get_string("state.checkpoints.dir", "") == "/c"


def test_the_name_of_the_job_may_be_a_setting() -> None:
    """P12"""
    env = environment(**{"pipeline.name": "orders"})
    assert env.from_collection([1]).print() is not None
    assert env.get_stream_graph(clear=False).name == "orders"
    assert env.get_stream_graph("mine").name == "mine"


# -- names without effect -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"state.backend": "hashmap"},
            f"state.backend (now state.backend.type) has no effect: {NO_EFFECT['state.backend.type']}",
        ),
        ({"state.backend": "rocksdb"}, None),
        (
            {"state.backend.incremental": "false"},
            "state.backend.incremental (now execution.checkpointing.incremental) has no effect: checkpoints are always "
            "incremental",
        ),
        (
            {"state.checkpoints.num-retained": "7"},
            "state.checkpoints.num-retained (now execution.checkpointing.num-retained) has no effect: "
            "spark.sql.streaming.minBatchesToRetain says how many batches are kept",
        ),
        (
            {"taskmanager.tmp.dirs": "/x"},
            "taskmanager.tmp.dirs (now io.tmp.dirs) has no effect: it is a setting of Flink",
        ),
        (
            {"akka.ask.timeout": "5 s"},
            "akka.ask.timeout (now pekko.ask.timeout) has no effect: it is a setting of Flink",
        ),
        (
            {"yarn.ship-files": "x"},
            "yarn.ship-files has no effect: it is a setting of Flink that Penstock has no use for",
        ),
        ({"execution.sorted-inputs.enabled": "x"}, "execution.sorted-inputs.enabled has no effect: it is a setting of"),
    ],
)
def test_a_known_setting_that_does_nothing_says_so(settings: dict[str, str], expected: str | None) -> None:
    """P12"""
    found = said(settings)
    assert len(found) == (expected is not None)
    assert expected is None or found[0].startswith(expected)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("execution.checkpointing.dri", "execution.checkpointing.dir"),
        ("execution.checkpoint.interval", "execution.checkpointing.interval"),
        ("state.checkpoint.dir", "execution.checkpointing.dir"),  # nearly an older name: the newest is proposed
        ("paralelism.default", "parallelism.default"),
        ("taskmanager", None),
        ("pipeline.qwyxzz", ""),
        ("spark.executor.memry", "spark.executor.memory"),
        ("spark.sql.shuffle.partition", "spark.sql.shuffle.partitions"),
        ("spark.streaming.backpressure.enable", "spark.streaming.backpressure.enabled"),
        ("my.own", None),
        ("client.id", None),
        ("user.name", None),
        ("spark.acme.lineage.url", None),
        ("spark.hadoop.fs.s3a.access.key", None),
        ("spark.executorEnv.HOME", None),
        ("spark.sql.catalog.mine.type", None),
        ("parallelism.default", None),
        ("state.checkpoints.dir", None),
    ],
)
def test_a_name_that_nobody_knows_is_pointed_out(key: str, expected: str | None) -> None:
    """P12"""
    assert nearest_known(key) == expected
    about = [line for line in warnings_about({key: "1"}) if "is not a setting" in line]
    owner = "Spark" if key.startswith("spark.") else "Flink"
    ending = f": did you mean '{expected}'?" if expected else " and has no effect"
    assert about == ([] if expected is None else [f"{key} is not a setting of {owner}{ending}"])


# -- the lists ----------------------------------------------------------------------------------------


def test_every_setting_of_flink_that_is_read_or_written_is_judged() -> None:
    """P12: a name of Flink in our code is honoured or warned about."""
    found = {
        newest_name(name)
        for path in SOURCE.rglob("*.py")
        for name in re.findall(r'"([a-z][a-z-]*(?:\.[a-z-]+)+)"', path.read_text(encoding="utf-8"))
        if newest_name(name) in flink_settings()
    }
    assert found - HONOURED - NO_EFFECT.keys() == set()
    assert flink_settings().keys() >= HONOURED
    assert [name for name in NO_EFFECT if newest_name(name) != name] == []


def test_our_own_choices_for_spark_are_names_that_spark_knows() -> None:
    assert [key for key in {**_DEFAULTS, **FORCED} if nearest_known(key) is not None] == []


def test_checkpointing_mode_is_read_under_flinks_name() -> None:
    """F7"""
    env = environment(**{"execution.checkpointing.mode": "AT_LEAST_ONCE"})
    assert env.get_checkpointing_mode() is CheckpointingMode.AT_LEAST_ONCE
