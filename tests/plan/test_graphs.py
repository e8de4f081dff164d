"""Logical graph, chains, execution graph (G1, G2, G3)."""

import textwrap
from typing import Any

import pytest

from penstock.common import Configuration
from penstock.core.errors import ProgramError
from penstock.core.program.partition import Forward
from penstock.datastream import DataStream, KeyedProcessFunction, OutputTag, ProcessFunction, StreamExecutionEnvironment
from penstock.plan.compile import PlanOptions, compile_job, compile_job_graph


class Nothing(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> None: ...


class KeyedNothing(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> None: ...


def environment(parallelism: int = 2) -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment(Configuration({"parallelism.default": parallelism}))


def chains(env: StreamExecutionEnvironment, parallelism: int = 2) -> list[str]:
    graph = compile_job_graph(env.get_stream_graph(), PlanOptions(parallelism))
    return [f"{v.name} x{v.parallelism}" for v in graph.vertices]


def test_the_example_of_the_rule_has_three_vertices_and_five_subtasks() -> None:
    """G2: source(1) -> flat_map(2) -> key_by -> reduce(2) -> sink(2)."""
    env = environment()
    env.from_collection(["a b"]).flat_map(str.split).key_by(lambda w: w).reduce(lambda a, b: a + b).print()
    graph = compile_job_graph(env.get_stream_graph(), PlanOptions(2))
    assert [(v.name, v.parallelism) for v in graph.vertices] == [
        ("Source: Collection", 1),
        ("FlatMap", 2),
        ("Reduce -> Print to Std. Out", 2),
    ]
    assert graph.subtasks == 5


def test_the_three_graphs_as_text() -> None:
    """G1"""
    env = environment()
    words = env.from_collection(["a b"]).flat_map(str.split)
    words.key_by(lambda w: w).reduce(lambda a, b: a + b).print()
    words.rebalance().map(len).set_parallelism(1).print("lengths").set_parallelism(1)
    assert env.explain() == textwrap.dedent("""\
        == StreamGraph: Penstock Job ==
        1: Source: Collection
        2: FlatMap <- 1 FORWARD?
        3: Reduce <- 2 HASH
        4: Print to Std. Out <- 3 FORWARD?
        5: Map (parallelism 1) <- 2 REBALANCE
        6: Print to Std. Out (parallelism 1) <- 5 FORWARD?

        == JobGraph: Penstock Job (4 vertices, 6 subtasks) ==
        [0] Source: Collection x1
             --REBALANCE--> [1]
        [1] FlatMap x2
             --HASH--> [2]
             --REBALANCE--> [3]
        [2] Reduce -> Print to Std. Out x2
        [3] Map -> Print to Std. Out x1

        == ExecutionGraph: Penstock Job ==
        Source: Collection (1/1)
        FlatMap (1/2)
        FlatMap (2/2)
        Reduce -> Print to Std. Out (1/2)
        Reduce -> Print to Std. Out (2/2)
        Map -> Print to Std. Out (1/1)

        == Guarantees: Penstock Job ==
        'Source: Collection' -> 'Print to Std. Out': at-most-once (shown once durable, and not again)""")


def test_explaining_runs_nothing_and_keeps_the_program() -> None:
    """P1, G1"""
    env = environment()
    env.from_collection([1]).map(lambda v: 1 // 0).print()
    assert env.explain() == env.explain()


def test_side_outputs_are_named_on_their_arrows() -> None:
    """G1"""
    env = environment(1)
    main = env.from_collection([1]).process(Nothing())
    main.get_side_output(OutputTag("late")).rebalance().print()
    assert "--REBALANCE [late]-->" in env.explain()
    assert "<- 2 REBALANCE [late]" in env.explain()


def test_neighbours_of_equal_parallelism_are_chained() -> None:
    """G2"""
    env = environment(1)
    env.from_collection([1]).map(str).filter(bool).map(len).print()
    assert chains(env, 1) == ["Source: Collection -> Map -> Filter -> Map -> Print to Std. Out x1"]


def test_a_chain_may_branch() -> None:
    """G2, G3"""
    env = environment(1)
    stream = env.from_collection([1]).map(str)
    stream.filter(bool).print()
    stream.print()
    assert chains(env, 1) == ["Source: Collection -> Map -> Filter -> Print to Std. Out -> Print to Std. Out x1"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda s: s.start_new_chain(), ["Source: Collection x1", "Map -> Print to Std. Out x1"]),
        (lambda s: s.disable_chaining(), ["Source: Collection x1", "Map x1", "Print to Std. Out x1"]),
        (lambda s: s.set_parallelism(2), ["Source: Collection x1", "Map x2", "Print to Std. Out x1"]),
    ],
)
def test_chains_are_cut_where_the_program_says_so(change: Any, expected: list[str]) -> None:
    """G2"""
    env = environment(1)
    change(env.from_collection([1]).map(str)).print()
    assert chains(env, 1) == expected


def test_chaining_can_be_switched_off() -> None:
    """G2"""
    env = environment(1).disable_operator_chaining()
    env.from_collection([1]).map(str).print()
    assert "(3 vertices, 3 subtasks)" in env.explain()


def test_a_union_is_not_chained() -> None:
    """G2, G3"""
    env = environment(1)
    left, right = env.from_collection([1]), env.from_collection([2])
    left.union(right).map(str).print()
    assert chains(env, 1) == ["Source: Collection x1", "Source: Collection x1", "Map -> Print to Std. Out x1"]


def plan_of(env: StreamExecutionEnvironment, parallelism: int = 2) -> Any:
    return compile_job(env.get_stream_graph(), PlanOptions(parallelism))


def test_a_vertex_lies_one_level_above_the_highest_of_its_inputs() -> None:
    """G3: the plan is a line of stages."""
    env = environment()
    source = env.from_collection([1])
    deep = source.key_by(lambda v: v).process(KeyedNothing()).key_by(lambda v: v).process(KeyedNothing())
    deep.union(source).key_by(lambda v: v).process(KeyedNothing()).print()
    plan = plan_of(env)
    assert [(v.name, v.level) for v in plan.vertices] == [
        ("Source: Collection", 0),
        ("KeyedProcess", 1),
        ("KeyedProcess", 2),
        ("KeyedProcess -> Print to Std. Out", 3),
    ]
    assert plan.stage_count == 3
    assert plan.partitions == 2


def test_operators_that_need_state_or_the_clock_leave_the_source() -> None:
    """G2: level 0 has no state."""
    env = environment(1)
    env.from_collection([1]).map(str).process(Nothing()).map(str).print()
    plan = plan_of(env, 1)
    assert [(v.name, v.level) for v in plan.vertices] == [
        ("Source: Collection -> Map", 0),
        ("Process -> Map -> Print to Std. Out", 1),
    ]
    assert isinstance(plan.vertices[0].out_edges[0].exchange, Forward)


def test_single_subtasks_spread_over_the_partitions() -> None:
    env = environment(8)
    for i in range(20):
        env.from_collection([1]).key_by(lambda v: v).process(KeyedNothing()).uid(f"op-{i}").set_parallelism(1).print()
    plan = plan_of(env, 8)
    single = [v for v in plan.vertices if v.name == "KeyedProcess"]
    assert len({v.first_partition for v in single}) > 4
    for vertex in plan.vertices:
        if vertex.level:
            places = [plan.partition_of(vertex, s) for s in range(vertex.parallelism)]
            assert [plan.subtask_at(vertex, p) for p in places] == list(range(vertex.parallelism))


def test_uids_that_are_not_given_depend_on_place_and_name() -> None:
    """S1: the same program finds its state again."""
    made = []
    for _ in range(2):
        env = environment()
        env.from_collection([1]).map(str).uid("mine").key_by(lambda v: v).process(KeyedNothing()).print()
        made.append([op.uid for v in plan_of(env).vertices for op in v.operators])
    assert made[0] == made[1]
    assert "mine" in made[0]
    assert len(set(made[0])) == len(made[0])


def dangling(env: StreamExecutionEnvironment) -> DataStream[int]:
    return env.from_collection([1])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda env: None, r"Job 'Penstock Job' has no operators: create a stream, e.g. with env.from_collection"),
        (dangling, r"Source 'Source: Collection' has no sink: its records go nowhere. Add one, e.g. .print\(\)"),
        (
            lambda env: (dangling(env), dangling(env)),
            r"Source 'Source: Collection' has no sink: its records go nowhere",
        ),
        (
            lambda env: dangling(env).map(str).uid("a").map(str).name("Other").uid("a").print(),
            r"uid 'a' is used by 2 operators \('Map', 'Other'\): a uid must be unique in the job",
        ),
        (
            lambda env: dangling(env).map(str).set_parallelism(129).print(),
            r"Operator 'Map' asks for parallelism 129: it must be between 1 and the maximum parallelism 128",
        ),
        (
            lambda env: dangling(env).set_parallelism(2).print(),
            r"Source 'Source: Collection' asks for parallelism 2 but cannot be read by more than 1 subtask",
        ),
        (
            lambda env: dangling(env).forward().map(str).set_parallelism(3).print(),
            r"forward\(\) from 'Source: Collection' \(parallelism 1\) to 'Map' \(parallelism 3\) cannot change",
        ),
    ],
)
def test_mistakes_are_refused_before_anything_runs(build: Any, message: str) -> None:
    """P9: with the way out."""
    env = environment()
    build(env)
    with pytest.raises(ProgramError, match=message):
        env.execute()


def test_a_keyed_operator_needs_a_keyed_input() -> None:
    """P9: the api does not let one write it; the plan refuses it all the same."""
    from penstock.core.program.specs import KeyedProcessSpec

    env = environment()
    dangling(env)._add("Count", KeyedProcessSpec(KeyedNothing())).print()
    with pytest.raises(
        ProgramError, match="Operator 'Count' keeps keyed state but its input is not keyed: call key_by"
    ):
        env.explain()
