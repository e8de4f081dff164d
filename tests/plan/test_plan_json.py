"""The program in Flink's JSON."""

import json

import pytest

from penstock.core.errors import ProgramError
from penstock.datastream import StreamExecutionEnvironment


def _program(env: StreamExecutionEnvironment) -> None:
    words = env.from_collection(["a b"]).flat_map(str.split).set_parallelism(2)
    counts = words.map(lambda w: (w, 1)).key_by(lambda p: p[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))
    counts.set_description("words so far").print()
    words.union(words.rebalance().filter(bool)).broadcast().print("all").name("Sink: everything").set_parallelism(1)


def _input(source: int, strategy: str) -> dict[str, object]:
    return {"id": source, "ship_strategy": strategy, "side": "second"}


def _node(
    number: int, name: str, pact: str, parallelism: int, *inputs: dict[str, object], contents: str = ""
) -> object:
    shown = {"id": number, "type": name, "pact": pact, "contents": contents or name, "parallelism": parallelism}
    return {**shown, "predecessors": list(inputs)} if inputs else shown


def test_the_plan_has_flinks_form() -> None:
    """G1: every operator with its parallelism and how it is fed, chained ones too."""
    env = StreamExecutionEnvironment().set_parallelism(2)
    _program(env)
    assert json.loads(env.get_execution_plan()) == {
        "nodes": [
            _node(1, "Source: Collection", "Data Source", 1),
            _node(2, "FlatMap", "Operator", 2, _input(1, "REBALANCE")),
            _node(3, "Map", "Operator", 2, _input(2, "FORWARD")),
            _node(4, "Reduce", "Operator", 2, _input(3, "HASH"), contents="words so far"),
            _node(5, "Sink: Print to Std. Out", "Data Sink", 2, _input(4, "FORWARD")),
            _node(6, "Filter", "Operator", 2, _input(2, "REBALANCE")),
            _node(7, "Sink: everything", "Data Sink", 1, _input(2, "BROADCAST"), _input(6, "BROADCAST")),
        ]
    }


def test_asking_for_the_plan_changes_nothing() -> None:
    """P1, G1"""
    env = StreamExecutionEnvironment().set_parallelism(1)
    _program(env)
    assert env.get_execution_plan() == env.get_execution_plan()
    assert env.get_stream_graph().nodes[0].name == "Source: Collection"


def test_a_program_that_cannot_run_has_no_plan() -> None:
    """P9"""
    env = StreamExecutionEnvironment()
    env.from_collection([1])
    with pytest.raises(ProgramError, match="Source 'Source: Collection' has no sink"):
        env.get_execution_plan()
    env.close()
    with pytest.raises(ProgramError, match="has no operators"):
        env.get_execution_plan()
