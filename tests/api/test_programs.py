"""What users call: programs, names, settings, refusals (P1, P3, P6, P9)."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration, Row, WatermarkStrategy
from penstock.core.errors import ConfigurationError, ProgramError, UserFunctionError
from penstock.datastream import (
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    OutputTag,
    Partitioner,
    ProcessFunction,
    ReduceFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.launch import choose_host
from penstock.testing import ScriptedSource, collect, local_job


def local(parallelism: int = 2) -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment(Configuration({"penstock.host": "local"})).set_parallelism(parallelism)


class Inc(MapFunction):
    """Proves that open and close are called, each once, around the records."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.context = runtime_context
        self.step = 1

    def map(self, value: int) -> int:
        return value + self.step

    def close(self) -> None:
        del self.step


class Odd(FilterFunction):
    def filter(self, value: int) -> bool:
        return value % 2 == 1


class Twice(FlatMapFunction):
    def flat_map(self, value: int) -> Any:
        yield value
        yield value


class Key(KeySelector):
    def get_key(self, value: int) -> int:
        return value % 3


class Add(ReduceFunction):
    def reduce(self, value1: int, value2: int) -> int:
        return value1 + value2


class Last(Partitioner):
    def partition(self, key: int, num_partitions: int) -> int:
        return num_partitions - 1


def test_functions_may_be_classes() -> None:
    """P6"""
    env = local()
    stream = env.from_sequence(1, 6).map(Inc()).filter(Odd()).flat_map(Twice()).key_by(Key()).reduce(Add())
    assert sorted(stream.execute_and_collect()) == sorted([3, 6, 5, 10, 7, 14])


def test_functions_may_be_lambdas_and_generators() -> None:
    """P6"""

    def twice(value: int) -> Any:
        yield value
        yield value

    env = local()
    stream = env.from_sequence(1, 6).map(lambda v: v + 1).filter(lambda v: v % 2).flat_map(twice)
    assert Counter(stream.execute_and_collect()) == Counter([3, 3, 5, 5, 7, 7])


def test_a_partitioner_may_be_a_class() -> None:
    """G4, P6"""

    class Where(ProcessFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            self.subtask = runtime_context.get_index_of_this_subtask()

        def process_element(self, value: Any, ctx: Any) -> Any:
            yield self.subtask

    env = local(3)
    stream = env.from_sequence(1, 4).partition_custom(Last(), lambda v: v).process(Where())
    assert list(stream.execute_and_collect()) == [2, 2, 2, 2]


def test_a_rich_function_knows_where_it_runs() -> None:
    """P6"""

    class Who(ProcessFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            self.me = runtime_context

        def process_element(self, value: Any, ctx: Any) -> Any:
            me = self.me
            yield (
                me.get_task_name(),
                me.get_task_name_with_subtasks(),
                me.get_index_of_this_subtask(),
                me.get_number_of_parallel_subtasks(),
                me.get_max_number_of_parallel_subtasks(),
                me.get_attempt_number(),
                me.get_job_parameter("colour", "none"),
                me.get_job_parameter("size", "none"),
            )

    env = local(2)
    env.get_configuration().set_string("colour", "red")
    found = sorted(env.from_collection([1, 2]).rebalance().process(Who()).name("Who").execute_and_collect())
    name = "Who -> Collect"
    assert found == [(name, f"{name} ({i + 1}/2)#0", i, 2, 128, 0, "red", "none") for i in range(2)]


def test_every_subtask_has_a_function_of_its_own() -> None:
    """P6, S1: also when several run in one process."""

    class Count(KeyedProcessFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            from penstock.datastream.state import ValueStateDescriptor

            self.total = runtime_context.get_state(ValueStateDescriptor("total"))

        def process_element(self, value: Any, ctx: Any) -> Any:
            self.total.update((self.total.value() or 0) + 1)
            yield value, self.total.value()

    env = local(4)
    collect(env.from_collection([i % 5 for i in range(40)]).key_by(lambda v: v).process(Count()), "out")
    job = local_job(env, 4)
    job.run([7] * 5)
    assert Counter(job.results["out"]) == Counter((k, n) for k in range(5) for n in range(1, 9))


def test_a_stream_may_be_used_again_after_execute() -> None:
    """P1"""
    env = local()
    squares = env.from_sequence(1, 3).map(lambda v: v * v)
    assert sorted(squares.execute_and_collect()) == [1, 4, 9]
    assert sorted(squares.filter(lambda v: v > 1).execute_and_collect()) == [4, 9]
    assert sorted(squares.execute_and_collect()) == [1, 4, 9]


def test_records_of_a_collection_are_read_again_as_they_were() -> None:
    """F1, S7: a function that changes its record must not change what a replay reads."""
    env = local()
    records = [[1], [2]]
    collect(env.from_collection(records).map(lambda v: v.append("seen") or v), "out")
    job = local_job(env, 1)
    job.run_batch(1, commit=False)
    job.restart()
    job.run()
    assert job.results["out"] == [[1, "seen"], [2, "seen"]]
    assert records == [[1], [2]]


SEEN: list[int] = []


def test_a_program_without_a_sink_runs_with_a_warning() -> None:
    """P9, P12: as in Flink; it may be run for what its functions do."""
    SEEN.clear()
    env = local()
    env.from_collection([1, 2]).rebalance().map(SEEN.append).name("Note")
    with pytest.warns(
        RuntimeWarning, match="Operator 'Note' has no sink: it runs, and its records go nowhere. Add one"
    ):
        env.execute()
    assert sorted(SEEN) == [1, 2]


def test_a_keyed_operator_without_a_sink_runs() -> None:
    """P9"""
    SEEN.clear()
    env = local()
    env.from_collection([1, 2, 3]).key_by(lambda v: 0).reduce(lambda a, b: SEEN.append(b) or a + b)
    with pytest.warns(RuntimeWarning, match="Operator 'Reduce' has no sink"):
        env.execute()
    assert SEEN == [2, 3]


def test_an_unused_source_is_left_out_with_a_warning() -> None:
    """P9, P10, P12: it does not even choose the host."""
    env = local()
    env.from_source(DataGeneratorSource(lambda i: i), WatermarkStrategy.no_watermarks(), "forever")
    env.from_collection([1]).print()
    with pytest.warns(RuntimeWarning, match="Source 'Source: forever' is not used: no operator reads it"):
        graph = env.get_stream_graph()
    assert [node.name for node in graph.nodes] == ["Source: Collection", "Print to Std. Out"]
    assert choose_host(graph, Configuration()) == "bounded"


def test_collecting_with_a_limit_gives_a_list() -> None:
    """P8"""
    assert local(1).from_sequence(1, 9).execute_and_collect(limit=3) == [1, 2, 3]


@pytest.mark.parametrize("parallelism", [1, 2, 4])
def test_collecting_keeps_the_order_of_a_stream_that_is_not_parallel(parallelism: int) -> None:
    """P8, G4: the collecting sink is no wider than what it collects."""
    items = list(range(100))
    assert list(local(parallelism).from_collection(items).execute_and_collect()) == items
    narrow = local(parallelism).from_collection(items).map(lambda v: -v).set_parallelism(1)
    assert list(narrow.filter(lambda v: True).set_parallelism(1).execute_and_collect()) == [-v for v in items]


def test_collecting_streams_of_different_widths_keeps_the_order_of_each() -> None:
    """P8, G4"""
    env = local(4)
    ones = env.from_collection([("one", n) for n in range(100)])
    twos = env.from_collection([("two", n) for n in range(100)])
    wide = env.from_collection([("wide", 0)]).map(lambda v: v)
    found = list(ones.union(twos, wide).execute_and_collect())
    for name in ("one", "two"):
        assert [n for which, n in found if which == name] == list(range(100))


@pytest.mark.parametrize("selector", [lambda v: v % 3, Key()])
def test_a_keyed_stream_is_collected_with_its_keys(selector: Any) -> None:
    """P8: as in PyFlink, a row of key and record."""
    found = local(4).from_collection(list(range(1000))).key_by(selector).execute_and_collect()
    assert list(found) == [Row(f0=n % 3, f1=n) for n in range(1000)]


def test_a_key_selector_that_fails_while_collecting_names_the_record() -> None:
    """P9"""
    with pytest.raises(UserFunctionError, match=r"The key selector of operator 'Collect' .* failed on record 2"):
        list(local().from_collection([1, 2]).key_by(lambda v: 1 // (v - 2)).execute_and_collect())


def test_print_shows_the_subtask_only_where_there_are_several(capsys: pytest.CaptureFixture[str]) -> None:
    """P8"""
    env = local(1)
    env.from_collection(["a"]).print()
    env.from_collection(["b"]).print("id")
    result = env.execute("printing")
    assert capsys.readouterr().out == "a\nid> b\n"
    assert (result.job_name, str(result.get_job_id())) == ("printing", "local")
    env = local(2)
    env.from_collection(["a", "b"]).rebalance().print("id")
    env.execute()
    assert sorted(capsys.readouterr().out.split("\n")) == ["", "id:1> a", "id:2> b"]


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda s: s.map(5), TypeError, r"map\(\) takes a function or a MapFunction, got int"),
        (lambda s: s.map(Odd()), TypeError, r"map\(\) takes a function or a MapFunction, got Odd"),
        (lambda s: s.key_by("x"), TypeError, r"key_by\(\) takes a function or a KeySelector, got str"),
        (lambda s: s.process(lambda v: v), TypeError, r"process\(\) takes a ProcessFunction, got function"),
        (lambda s: s.sink_to("file"), TypeError, r"sink_to\(\) takes a Sink, got str"),
        (
            lambda s: s.key_by(lambda v: v).process(lambda v: v),
            TypeError,
            r"process\(\) on a keyed stream takes a KeyedProcessFunction, got function",
        ),
        (
            lambda s: s.process(Plain()),
            ProgramError,
            r"process\(\) with Plain, a KeyedProcessFunction, needs a keyed stream: call key_by first",
        ),
        (
            lambda s: s.assign_timestamps_and_watermarks("monotonous"),
            TypeError,
            r"assign_timestamps_and_watermarks\(\) takes a WatermarkStrategy, got str",
        ),
        (lambda s: s.uid(""), ProgramError, "Operator 'Source: Collection': a uid is a non-empty string, got ''"),
        (lambda s: s.set_parallelism(0), ProgramError, "'Source: Collection': parallelism must be at least 1, got 0"),
        (lambda s: s.set_parallelism("2"), ProgramError, "parallelism must be at least 1, got '2'"),
        (lambda s: s.key_by(lambda v: v).uid("k"), ProgramError, "belongs to an operator, not to what union"),
        (lambda s: s.union(s).set_parallelism(2), ProgramError, "belongs to an operator, not to what union"),
        (lambda s: s.rebalance().name("n"), ProgramError, "belongs to an operator, not to what union"),
        (
            lambda s: s.union(s).get_side_output(OutputTag("t")),
            ProgramError,
            r"get_side_output\(\) belongs to the operator that emits it: call it before union\(\)",
        ),
        (lambda s: OutputTag(""), ValueError, "OutputTag tag_id must be a non-empty string"),
    ],
)
def test_mistakes_in_a_call_are_refused_at_once(build: Any, error: type[Exception], message: str) -> None:
    """P9"""
    with pytest.raises(error, match=message):
        build(local().from_collection([1]))


class Plain(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> None: ...


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda e: e.set_parallelism(0),
            ProgramError,
            "parallelism.default must be a whole number of at least 1, got 0",
        ),
        (lambda e: e.set_max_parallelism(-1), ProgramError, "pipeline.max-parallelism must be a whole number"),
        (
            lambda e: e.enable_checkpointing("1s"),
            ProgramError,
            "execution.checkpointing.interval must be a whole number",
        ),
        (lambda e: e.from_source([1], WatermarkStrategy.no_watermarks(), "x"), TypeError, "takes a Source, got list"),
        (
            lambda e: e.from_source(NumberSequenceSource(1, 2), None, "x"),
            TypeError,
            r"from_source\(\) takes a WatermarkStrategy, got NoneType",
        ),
        (lambda e: e.from_sequence(3, 1), ValueError, "the end 1 is before the start 3"),
    ],
)
def test_mistakes_in_a_setting_are_refused_at_once(call: Any, error: type[Exception], message: str) -> None:
    """P9"""
    with pytest.raises(error, match=message):
        call(local())


def test_a_watermark_strategy_given_with_the_source_belongs_to_the_source() -> None:
    """T7: its uid, name and parallelism are the source's."""
    env = local()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda v, _: v)
    stream = env.from_source(NumberSequenceSource(1, 4), strategy, "numbers").uid("src").set_parallelism(1)
    stream.print()
    graph = env.get_stream_graph()
    assert [(n.name, n.uid, n.parallelism) for n in graph.nodes] == [
        ("Source: numbers", "src", 1),
        ("Print to Std. Out", None, None),
    ]


def parallelism_of(program: Any) -> tuple[int, int]:
    env = StreamExecutionEnvironment.get_execution_environment()
    program(env)
    return env.get_parallelism(), env.get_max_parallelism()


def test_parallelism_is_decided_by_the_strongest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """P3: configuration file < command line < environment < operator."""
    monkeypatch.delenv("PENSTOCK_CONF", raising=False)
    monkeypatch.delenv("PENSTOCK_CONF_FILE", raising=False)
    cores = parallelism_of(lambda env: None)[0]
    assert cores >= 1

    file = tmp_path / "penstock.yaml"
    file.write_text("# settings\nparallelism.default: 3\npipeline.max-parallelism: 64\n")
    monkeypatch.setenv("PENSTOCK_CONF_FILE", str(file))
    assert parallelism_of(lambda env: None) == (3, 64)

    monkeypatch.setenv("PENSTOCK_CONF", json.dumps({"parallelism.default": 5}))
    assert parallelism_of(lambda env: None) == (5, 64)

    assert parallelism_of(lambda env: env.set_parallelism(7)) == (7, 64)

    env = StreamExecutionEnvironment().set_parallelism(7)
    env.from_collection([1]).map(str).set_parallelism(2).map(len).print()
    assert "Map x2" in env.explain()
    assert "Map -> Print to Std. Out x7" in env.explain()


def test_the_configuration_file_may_be_json_and_must_be_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """P3"""
    file = tmp_path / "penstock.json"
    file.write_text('{"parallelism.default": 4}')
    monkeypatch.setenv("PENSTOCK_CONF_FILE", str(file))
    assert parallelism_of(lambda env: None)[0] == 4
    monkeypatch.setenv("PENSTOCK_CONF_FILE", str(tmp_path / "missing"))
    with pytest.raises(ConfigurationError, match=r"The configuration file .*missing cannot be read"):
        StreamExecutionEnvironment()


@pytest.mark.parametrize(
    ("bounded", "settings", "host"),
    [
        ([True, True], {}, "bounded"),
        ([True, False], {}, "streaming"),
        ([True], {"execution.checkpointing.interval": "1000"}, "streaming"),
        ([True], {"execution.checkpointing.dir": "/x"}, "streaming"),
        ([False], {"penstock.host": "local"}, "local"),
        ([False], {"penstock.host": "bounded"}, "bounded"),
        ([True], {"penstock.host": "streaming"}, "streaming"),
    ],
)
def test_the_host_follows_from_sources_and_durability(bounded: list[bool], settings: Any, host: str) -> None:
    """P10"""
    env = StreamExecutionEnvironment()
    for number, each in enumerate(bounded):
        env.from_source(ScriptedSource([[]], each), WatermarkStrategy.no_watermarks(), f"s{number}").print()
    assert choose_host(env.get_stream_graph(), Configuration(settings)) == host


def test_enable_checkpointing_asks_for_the_streaming_host() -> None:
    """P10, F2"""
    env = StreamExecutionEnvironment().enable_checkpointing(1_000)
    env.from_collection([1]).print()
    assert choose_host(env.get_stream_graph(), env.get_configuration()) == "streaming"


def test_an_unknown_host_is_refused() -> None:
    """P9, P10"""
    env = StreamExecutionEnvironment(Configuration({"penstock.host": "cloud"}))
    env.from_collection([1]).print()
    with pytest.raises(
        ConfigurationError, match=r"penstock\.host must be one of auto, local, bounded, streaming, got 'cl"
    ):
        env.execute()
