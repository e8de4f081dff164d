"""Settings: all that are read stand in the one table, with what people need to know, and are checked by it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.common import ConfigOption, ConfigOptions
from penstock.core.config import Configuration
from penstock.core.config.compat import NO_EFFECT
from penstock.core.config.known_settings import flink_settings, nearest_known
from penstock.core.config.option import EVERYWHERE
from penstock.core.config.options.tuning import BATCH_MAX_RECORDS, BATCH_TARGET, STATE_PAGE
from penstock.core.config.table import ALL_OPTIONS, OWN_OPTIONS, check_settings, find_option, older_names
from penstock.core.config.variables import ALL_VARIABLES
from penstock.core.errors import ConfigurationError
from penstock.datastream import StreamExecutionEnvironment
from scripts import settings
from tests.cli.kit import penstock, script

SOURCE = Path(__file__).parents[2] / "src" / "penstock"
CHECKED = {key: option for key, option in ALL_OPTIONS.items() if not option.no_effect and not key.startswith("spark.")}
"""Settings whose values are checked when a job is planned."""


# -- the table ----------------------------------------------------------------------------------------


def literals(root: Path) -> Iterator[str]:
    """Texts in the source that hold the name of a setting or of a variable, outside the table and docstrings.

    Left out are the two programs that the package carries: they are written as users write theirs.
    """
    names = [key for key in ALL_OPTIONS if not key.startswith("spark.")] + [v.name for v in ALL_VARIABLES]
    pattern = re.compile("|".join(rf"(?<![\w.-]){re.escape(name)}(?![\w-])" for name in names))
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root).as_posix()
        if not place.startswith("core/config/") and place not in ("demo.py", "spark/startup/archive.py"):
            for node in texts(ast.parse(path.read_text(encoding="utf-8"))):
                if found := pattern.search(str(node.value)):
                    yield f"{place}:{node.lineno}: {found.group()}"


def texts(tree: ast.AST) -> Iterator[ast.Constant]:
    """The text constants of a module but for docstrings, which are statements of their own."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node


def read_by_name(root: Path) -> Iterator[str]:
    """Reads of a configuration by a literal name."""
    pattern = re.compile(r"""\.get_(?:string|integer|boolean|float|duration_ms|bytearray)\(\s*f?["']""")
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and pattern.search(ast.unparse(node)[:200]):
                yield f"{path.relative_to(root)}:{node.lineno}: {ast.unparse(node)[:80]}"


def test_no_code_names_a_setting_but_the_table() -> None:
    """P12: what is not in the table is neither documented nor checked."""
    assert list(literals(SOURCE)) == []
    assert list(read_by_name(SOURCE)) == []


@pytest.mark.parametrize(
    "line",
    [
        'def f(conf): return conf.get_integer("penstock.chunk.records", 8192)',
        'KEY = "execution.checkpointing.dir"',
        'raise ValueError(f"set penstock.host to local, not {1}")',
        'import os\nos.environ["PENSTOCK_CONF"]',
    ],
)
def test_a_literal_name_is_found(tmp_path: Path, line: str) -> None:
    (tmp_path / "sofa.py").write_text(line, encoding="utf-8")
    assert len(list(literals(tmp_path))) == 1


def test_a_read_by_a_literal_name_is_found(tmp_path: Path) -> None:
    (tmp_path / "sofa.py").write_text('def f(conf): return conf.get_string("my.own", "")', encoding="utf-8")
    assert len(list(read_by_name(tmp_path))) == 1


@pytest.mark.parametrize("option", ALL_OPTIONS.values(), ids=lambda option: option.key)
def test_every_setting_says_what_people_need_to_know(option: ConfigOption[Any]) -> None:
    """P12"""
    assert option.values is not None
    assert option.values.expected
    assert option.description.endswith(".")
    assert option.summary[0].isupper() or option.summary.startswith("0")
    assert len(option.summary) <= 120
    assert option.hosts
    assert set(option.hosts) <= set(EVERYWHERE)


@pytest.mark.parametrize("option", ALL_OPTIONS.values(), ids=lambda option: option.key)
def test_a_setting_takes_its_own_default(option: ConfigOption[Any]) -> None:
    assert option.values is not None
    for default in (option.default, option.batch_default):
        if default not in (None, "", {}):
            assert option.read(option.values.written(default)) == default
    assert option.default is not None or option.default_text or option.no_effect


def test_names_are_of_penstock_flink_or_spark() -> None:
    """P12"""
    theirs = [key for key in ALL_OPTIONS if key not in OWN_OPTIONS]
    assert [key for key in theirs if not key.startswith("spark.") and key not in flink_settings()] == []
    assert [key for key in theirs if nearest_known(key) is not None] == []
    assert {key for key, option in ALL_OPTIONS.items() if option.no_effect} <= NO_EFFECT.keys()


@pytest.mark.parametrize("page", settings.PAGES)
def test_the_tables_of_the_guide_are_up_to_date(page: str) -> None:
    """P12"""
    text = (SOURCE.parents[1] / page).read_text(encoding="utf-8")
    assert settings.rendered(text) == text, "run `make settings`"
    assert "<!-- settings: " in text


def test_options_are_read_with_their_type_and_default() -> None:
    conf = Configuration({"penstock.batch.target-ms": "2 s", "penstock.batch.max-records.a": "5"})
    assert (conf.get(BATCH_TARGET), Configuration().get(BATCH_TARGET)) == (2000, 10_000)
    assert (conf.get(BATCH_MAX_RECORDS.of("a")), conf.get(BATCH_MAX_RECORDS)) == (5, 500_000)
    assert (STATE_PAGE.default_in(False), STATE_PAGE.default_in(True)) == (12 << 10, 96 << 10)
    assert repr(BATCH_TARGET) == "ConfigOption(key='penstock.batch.target-ms', kind=<class 'int'>, default=10000)"
    assert ConfigOptions.key("penstock.batch.target-ms").int_type().default_value(10_000) == BATCH_TARGET


def test_an_option_is_found_under_its_older_names_and_with_a_uid() -> None:
    """P12"""
    for option in ALL_OPTIONS.values():
        assert [find_option(older) for older in older_names(option)] == [option] * len(older_names(option))
    assert find_option("penstock.batch.max-records.a") is BATCH_MAX_RECORDS
    assert find_option("my.own") is None


# -- names --------------------------------------------------------------------------------------------

GOOD = {
    "penstock.batch.max-bytes": "1",
    "penstock.batch.max-records": "1",
    "penstock.batch.target-ms": "5 s",
    "penstock.cache.dir": "/shared",
    "penstock.chunk.records": "1",
    "penstock.host": "local",
    "penstock.jvm.compiler": "full",
    "penstock.metrics.heavy-keys": "0",
    "penstock.metrics.late-records": "True",
    "penstock.plan-only": "false",
    "penstock.poison": "side-output",
    "penstock.sort.budget-bytes": "1",
    "penstock.source.buffer-records": "1",
    "penstock.source.cancel-timeout-ms": "0",
    "penstock.state.accept-changed-program": "true",
    "penstock.state.budget-bytes": "1",
    "penstock.state.page-bytes": "1",
    "penstock.tmp-dir": "/tmp",
    "penstock.watermark.per-record": "true",
    "penstock.watermark.records": "1",
}


def test_a_misspelt_name_is_refused() -> None:
    """P12: it would have no effect."""
    check_settings(Configuration({**GOOD, "penstockish": "1", "my.own": "2"}))
    with pytest.raises(ConfigurationError, match=r"no setting 'penstock.hots': did you mean 'penstock.host'\?"):
        check_settings(Configuration({"penstock.hots": "local"}))
    with pytest.raises(ConfigurationError, match=r"no setting 'penstock.zzzzzz': there are penstock.batch.max-bytes, "):
        check_settings(Configuration({"penstock.zzzzzz": "1"}))


@pytest.mark.parametrize("command", ["run", "plan"])
def test_the_command_line_refuses_it_with_the_line(tmp_path: Path, command: str) -> None:
    """P9, P12"""
    job = script(
        tmp_path,
        """
        from penstock.datastream import StreamExecutionEnvironment
        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection([1]).print()
        env.execute()
        """,
    )
    result = penstock(command, job, "--conf", "penstock.chunk.record=5")
    assert result.exit_code == 1
    message, where = result.stderr.splitlines()
    assert message == "Error: There is no setting 'penstock.chunk.record': did you mean 'penstock.chunk.records'?"
    assert where == f"  {job}, line 5: env.execute()"


# -- values -------------------------------------------------------------------------------------------

DURATION = "a duration like '10 s', '1 min' or '500 ms'"
WRONG = {
    "a whole number of at least 0": ("five", "", "1.5", "-1"),
    "a whole number of at least 1": ("five", "", "1.5", "0", "-1"),
    "infinite or a whole number of at least 1": ("five", "0"),
    "a number of at least 1.0": ("much", "0.5", "nan"),
    "a number between 0.0 and 1.0": ("much", "-0.1", "1.1", "nan"),
    DURATION: ("five", "-5", "5 parsecs"),
    "true or false": ("yes", "1", ""),
    "of the form key:value,key:value": ("a", '{"a"'),
    "a folder": ("a\0b",),
    "paths with ',' between them": ("a\0b",),
}
"""Kind of value -> texts that are not one."""
ANY_TEXT = {"pipeline.name", "python.executable", "python.requirements"}


def wrong_values() -> Iterator[tuple[str, str, str]]:
    """For every setting that is checked texts that it does not take, with what it asks for instead."""
    for key, option in CHECKED.items():
        assert option.values is not None
        choice = (("somewhere",) if "," in option.values.expected else ()) if key not in ANY_TEXT else ()
        for text in WRONG.get(option.values.expected, choice):
            yield key, text, option.values.expected


BAD = [
    *wrong_values(),
    ("penstock.batch.max-records.numbers", "many", "a whole number of at least 1"),
    ("penstock.batch.max-bytes.numbers", "0", "a whole number of at least 1"),
    ("penstock.host", "somewhere", "one of auto, local, bounded, streaming"),
    ("penstock.poison", "ignore", "one of fail, skip, side-output"),
]


def test_every_setting_that_is_checked_has_a_value_that_it_refuses() -> None:
    """P9"""
    assert CHECKED.keys() - {name for name, _, _ in BAD} == ANY_TEXT


def test_every_setting_has_a_value_that_it_takes() -> None:
    assert GOOD.keys() == OWN_OPTIONS.keys()


def environment(**settings: Any) -> StreamExecutionEnvironment:
    env = StreamExecutionEnvironment(Configuration(settings))
    env.from_collection([1]).uid("numbers").print()
    return env


@pytest.mark.parametrize("host", ["local", "bounded", "streaming"])
@pytest.mark.parametrize(("name", "value", "expected"), BAD)
def test_a_value_is_refused_on_every_host_before_anything_starts(
    host: str, name: str, value: str, expected: str
) -> None:
    """P9: on a host that never reads the setting, too."""
    settings = {"penstock.host": host, name: value}
    message = f"^{re.escape(f'{name} must be {expected}, got {value!r}')}$"
    with pytest.raises(ConfigurationError, match=message):
        environment(**settings).execute_async()
    with pytest.raises(ConfigurationError, match=message):
        environment(**settings).explain()


# -- of one source ------------------------------------------------------------------------------------

PER_SOURCE = [name for name, setting in OWN_OPTIONS.items() if setting.per_uid]


def test_the_guide_documents_the_settings_that_take_a_uid() -> None:
    """P12"""
    pages = (SOURCE.parents[1] / "docs" / "guide").glob("*.md")
    texts = (page.read_text(encoding="utf-8") for page in pages)
    documented = {name for text in texts for name in re.findall(r"`(penstock[a-z.-]+)\.<uid>`", text)}
    assert documented == set(PER_SOURCE)


@pytest.mark.parametrize("name", PER_SOURCE)
def test_a_setting_of_one_source_is_taken_however_it_is_said(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P3, P12"""
    key, local = f"{name}.numbers", {"penstock.host": "local"}
    environment(**local, **{key: "5"}).execute()
    env = environment(**local)
    env.get_configuration().set_string(key, "5")
    env.execute()
    file = tmp_path / "conf.yaml"
    file.write_text(f"{key}: 5\n", encoding="utf-8")
    monkeypatch.setenv("PENSTOCK_CONF_FILE", str(file))
    assert environment(**local).get_configuration().get_string(key, "") == "5"
    environment(**local).execute()


@pytest.mark.parametrize("name", PER_SOURCE)
def test_a_setting_of_one_source_on_the_command_line(name: str, tmp_path: Path) -> None:
    """P3, P12"""
    job = script(
        tmp_path,
        """
        from penstock.datastream import StreamExecutionEnvironment
        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection([1]).uid("numbers").print()
        env.execute()
        """,
    )
    assert penstock("plan", job, "--conf", f"{name}.numbers=5").exit_code == 0
    run = penstock("run", job, "--host", "local", "--conf", f"{name}.numbers=5")
    assert (run.exit_code, run.stdout.splitlines()[-1][-2:]) == (0, " 1")


@pytest.mark.parametrize("host", ["local", "bounded", "streaming"])
@pytest.mark.parametrize("name", PER_SOURCE)
def test_a_uid_that_no_source_has_is_refused_on_every_host(name: str, host: str) -> None:
    """P12: it would do nothing."""
    settings = {"penstock.host": host, f"{name}.number": "5"}
    message = rf"{re.escape(name)}\.number names no source of the job: its sources have the uids numbers"
    with pytest.raises(ConfigurationError, match=message):
        environment(**settings).execute_async()
    with pytest.raises(ConfigurationError, match=message):
        environment(**settings).explain()


def test_only_settings_of_sources_take_a_uid() -> None:
    """P12"""
    with pytest.raises(ConfigurationError, match=r"no setting 'penstock\.chunk\.records\.numbers': did you mean"):
        check_settings(Configuration({"penstock.chunk.records.numbers": "5"}))
    with pytest.raises(ConfigurationError, match=r"There is no setting 'penstock\.batch\.max-records\.'"):
        check_settings(Configuration({"penstock.batch.max-records.": "5"}))
