"""F5: state is read and edited offline, and made from data."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Time
from penstock.core.errors import SavepointError
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.runtime.state.page import NO_TIMER
from penstock.state import StateEditor, StateView, open_state
from penstock.state.keyed import pages
from penstock.testing import ManualClock, collect, local_job
from tests.effort import examples
from tests.savepoint.programs import program
from tests.savepoint.test_golden_jobs import STREAMS, whole


class Odd(NamedTuple):
    number: int


SEEN = ValueStateDescriptor("seen")
NAMES = ListStateDescriptor("names")
PLACES = MapStateDescriptor("places")


class Visits(KeyedProcessFunction):
    """How often a person was seen, under which names, and where."""

    def open(self, runtime_context: Any) -> None:
        self._seen = runtime_context.get_state(SEEN)
        self._names = runtime_context.get_list_state(NAMES)
        self._places = runtime_context.get_map_state(PLACES)

    def process_element(self, value: Any, ctx: Any) -> Any:
        person, name, place = value
        self._seen.update((self._seen.value() or 0) + 1)
        self._names.add(name)
        self._places.put(place, [name])
        ctx.timer_service().register_event_time_timer(1000)
        yield person, self._seen.value(), len(list(self._names.get()))

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield "bye", ctx.get_current_key(), timestamp


def visits(people: list[Any]) -> StreamExecutionEnvironment:
    env = StreamExecutionEnvironment()
    collect(env.from_collection(people).uid("people").key_by(lambda v: v[0]).process(Visits()).uid("visits"), "out")
    return env


@pytest.fixture
def view(tmp_path: Path) -> StateView:
    job = local_job(visits([("ann", "a", "x"), ("bob", "b", "y"), ("ann", "c", "x"), ("eve", "e", "z")]), 2)
    job.run_batch(3)
    return open_state(job.savepoint(str(tmp_path / "saved")).path)


def test_operators_keys_state_and_timers(view: StateView) -> None:
    assert view.operators()[["uid", "name", "keyed"]].values.tolist()[1] == ["visits", "KeyedProcess", True]
    assert sorted(view.keys("visits")) == ["ann", "bob"]
    found = {(e.key, e.state): (e.kind, e.value) for e in view.keyed("visits").itertuples()}
    assert found == {
        ("ann", "seen"): ("value", 2),
        ("bob", "seen"): ("value", 1),
        ("ann", "names"): ("list", ["a", "c"]),
        ("bob", "names"): ("list", ["b"]),
        ("ann", "places"): ("map", {"x": ["c"]}),
        ("bob", "places"): ("map", {"y": ["b"]}),
    }
    assert sorted(view.timers("visits")["key"]) == ["ann", "bob"]
    assert view.sources().to_dict("records") == [
        {"uid": "people", "name": "Source: Collection", "split": 0, "at": 3, "ended": False}
    ]


def test_edited_state_is_what_the_job_goes_on_with(view: StateView, tmp_path: Path) -> None:
    editor = StateEditor(view)
    with editor.keyed("visits") as state:
        state.set_key("eve")
        state.get_state(SEEN).update(41)
        state.set_key("ann")
        state.clear(SEEN, NAMES)
        state.delete_event_time_timer(1000)
        state.set_key("bob")
        state.get_list_state(NAMES).add("bobby")
    edited = editor.write(str(tmp_path / "edited"))
    people = [
        ("ann", "a", "x"),
        ("bob", "b", "y"),
        ("ann", "c", "x"),
        ("eve", "e", "z"),
        ("bob", "b", "z"),
        ("ann",) * 3,
    ]
    job = local_job(visits(people), 3, savepoint=edited.savepoint.path)
    job.run()
    assert sorted(job.results["out"]) == [
        ("ann", 1, 1),
        ("bob", 2, 3),
        ("bye", "ann", 1000),
        ("bye", "bob", 1000),
        ("bye", "eve", 1000),
        ("eve", 42, 1),
    ]
    assert sorted(view.keys("visits")) == ["ann", "bob"], "the old one stays as it is"


def test_operators_are_renamed_and_removed_and_sources_moved(view: StateView, tmp_path: Path) -> None:
    editor = StateEditor(view)
    editor.rename("visits", "guests")
    editor.set_position("people", 0, 1)
    moved = editor.write(str(tmp_path / "moved"))
    assert sorted(moved.keys("guests")) == ["ann", "bob"]
    assert moved.sources()["at"].tolist() == [1]
    editor = StateEditor(moved)
    editor.remove("guests")
    assert editor.write(str(tmp_path / "gone")).operators()["uid"].tolist() == ["people", "auto-3-Collect out"]


def test_a_job_starts_with_state_made_from_a_data_frame(tmp_path: Path) -> None:
    """F5: bootstrap."""
    frame = pd.DataFrame({"person": ["ann", "bob"], "times": [7, 9]})
    editor = StateEditor.new("visits")
    editor.bootstrap("visits", frame, lambda r: r.person, lambda r, state: state.get_state(SEEN).update(r.times))
    made = editor.write(str(tmp_path / "made"))
    job = local_job(visits([("bob", "b", "x")]), 4, savepoint=made.savepoint.path)
    job.run()
    assert job.results["out"] == [("bob", 10, 1), ("bye", "bob", 1000)]


@settings(max_examples=examples(25), deadline=None)
@given(counts=st.dictionaries(st.one_of(st.integers(), st.text(), st.none()), st.integers(0, 60), max_size=40))
def test_what_is_made_is_what_is_read(counts: dict[Any, int], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Lists that leave their page and maps that split included."""
    editor = StateEditor.new("many", max_parallelism=5)
    with editor.keyed("op") as state:
        for key, count in counts.items():
            state.set_key(key)
            state.get_list_state(NAMES).add_all(["n" * 1500] * count)
            state.get_map_state(PLACES).put_all({n: [n] for n in range(50 * count)})
    view = editor.write(str(tmp_path_factory.mktemp("many") / "one"))
    found = {(e.key, e.state): e.value for e in view.keyed("op").itertuples()}
    names = {(k, "names"): ["n" * 1500] * n for k, n in counts.items() if n}
    places = {(k, "places"): {i: [i] for i in range(50 * n)} for k, n in counts.items() if n}
    assert found == names | places


def test_state_with_a_time_to_live_is_shown_without_its_stamps(tmp_path: Path) -> None:
    """S2."""
    mortal = ValueStateDescriptor("mortal")
    mortal.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
    editor = StateEditor.new("short")
    with editor.keyed("op") as state:
        state.set_key(1)
        state.get_state(mortal).update("x")
    entry = next(editor.write(str(tmp_path / "one")).keyed("op").itertuples())
    assert (entry.key, entry.state, entry.kind, entry.value) == (1, "mortal", "value", "x")
    assert entry.stamp_ms > 0


def test_every_kind_of_operator_can_be_looked_at(tmp_path: Path) -> None:
    """Windows, sessions, partial matches, operator and broadcast state."""
    job = local_job(program(STREAMS), 2, clock=ManualClock())
    job.run_batch(30)
    view = open_state(job.savepoint(str(tmp_path / "one")).path)
    for uid in ("count", "sum", "sessions", "sliding", "matches"):
        assert len(view.keyed(uid)) > 0, uid
    assert len(view.lists("kept")) == 60
    assert view.broadcast("ruled").to_dict("records") == [{"state": "rules", "key": "factor", "value": 3}]
    assert set(view.clocks()["uid"]) >= {"count", "sessions"}
    with (
        pytest.raises(SavepointError, match=r"The windows of operator 'Slid.*' \(uid sliding\) are laid out by"),
        StateEditor(view).keyed("sliding"),
    ):
        pass


@pytest.mark.parametrize("groups", [1, 7, 1000])
def test_state_is_laid_out_in_another_number_of_key_groups(groups: int, tmp_path: Path) -> None:
    """F4: the one thing that a job cannot change by itself; windows, sessions, partial matches included."""
    first = local_job(program(STREAMS), 2, clock=ManualClock())
    first.run_batch(30)
    editor = StateEditor(open_state(first.savepoint(str(tmp_path / "one")).path))
    editor.set_max_parallelism(groups)
    saved = editor.write(str(tmp_path / "two")).savepoint.path
    job = local_job(program(STREAMS), min(groups, 5), clock=ManualClock(), savepoint=saved)
    assert job.plan.max_parallelism == groups
    job.run()
    for name, expected in whole(STREAMS).items():
        assert Counter(first.results.get(name, []) + job.results.get(name, [])) == expected, name


def test_large_collections_and_times_to_live_are_laid_out_anew(tmp_path: Path) -> None:
    """S2, S6."""
    mortal = ValueStateDescriptor("mortal")
    mortal.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
    editor = StateEditor.new("large")
    with editor.keyed("op") as state:
        for key in range(9):
            state.set_key(key)
            state.get_list_state(NAMES).add_all(["n" * 1500] * 10 * key)
            state.get_map_state(PLACES).put_all({n: [n] for n in range(500 * key)})
            state.get_state(mortal).update(key)
    before = editor.write(str(tmp_path / "one"))
    editor = StateEditor(before)
    editor.set_max_parallelism(3)
    after = editor.write(str(tmp_path / "two"))

    def shown(view: StateView) -> dict[Any, Any]:
        return {(e.key, e.state): (e.kind, e.value, e.stamp_ms) for e in view.keyed("op").itertuples()}

    assert shown(after) == shown(before)
    assert {blob.place for blob in after.savepoint.blobs()} <= {0, 1, 2}
    assert after.backend("op").sweep_of(next(iter(pages(after.backend("op"))))) < NO_TIMER


def test_refusals(view: StateView) -> None:
    with pytest.raises(SavepointError, match=r"has no operator with uid 'other'. It has: people, visits, auto-3"):
        view.keyed("other")
    with pytest.raises(SavepointError, match=r"\(uid visits\) in .* has no broadcast state"):
        view.broadcast("visits")
    editor = StateEditor(view)
    with (
        pytest.raises(SavepointError, match=r"Operator 'Collect out' \(uid auto-3-Collect out\) is not keyed"),
        editor.keyed("auto-3-Collect out"),
    ):
        pass
    with pytest.raises(SavepointError, match="There is no operator or source with uid 'other'"):
        editor.remove("other")
    with pytest.raises(SavepointError, match="There is an operator with uid 'people' already"):
        editor.rename("visits", "people")
    with pytest.raises(SavepointError, match="A maximum parallelism must be at least 1, got 0"):
        editor.set_max_parallelism(0)
    with pytest.raises(SavepointError, match="There is no split 3 of a source with uid 'people'"):
        editor.set_position("people", 3, 0)
    with editor.keyed("visits"):
        pass
    with pytest.raises(SavepointError, match=r"\(uid visits\) has been edited: rename it first"):
        editor.rename("visits", "guests")


def test_a_class_that_is_not_at_hand_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = StateEditor.new("odd")
    with editor.keyed("op") as state:
        state.set_key(Odd(1))
        state.get_state(SEEN).update(1)
    view = editor.write(str(tmp_path / "one"))
    assert view.keys("op") == [Odd(1)]
    monkeypatch.delattr("tests.state.test_offline.Odd")
    with pytest.raises(SavepointError, match=r"a class that is not at hand here: .*Odd.*Make its module importable"):
        view.keys("op")
