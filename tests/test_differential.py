"""The judge of the differential runs, which need PyFlink, can itself be tested without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from differential import kept
from differential.compare import Outcome, differences
from differential.examples import printed
from differential.listed import Entry, judge, load
from differential.sides import PYFLINK, Side


def outcome(*texts: str, order: str = "exact", error: str | None = None) -> Outcome:
    return Outcome(tuple((text[0], text) for text in texts), order, error)


def found(theirs: Outcome, ours: Outcome) -> bool:
    return bool(differences("local", {("p.c", 1): theirs}, {("p.c", 1): ours}))


def test_order_counts_where_it_is_promised() -> None:
    assert found(outcome("a1", "b1"), outcome("b1", "a1"))
    assert not found(outcome("a1", "b1", order="multiset"), outcome("b1", "a1", order="multiset"))
    assert not found(outcome("a1", "b1", "a2", order="per key"), outcome("b1", "a1", "a2", order="per key"))
    assert found(outcome("a1", "b1", "a2", order="per key"), outcome("a2", "b1", "a1", order="per key"))


def test_how_often_counts_always() -> None:
    assert found(outcome("a1", "a1", order="multiset"), outcome("a1", order="multiset"))


def test_one_failure_differs_and_two_agree() -> None:
    assert found(outcome("a1"), outcome(error="boom"))
    assert not found(outcome(error="this"), outcome(error="that"))


def test_a_missing_case_differs() -> None:
    assert differences("local", {("p.c", 1): outcome("a1")}, {})


def test_the_lists_are_strict() -> None:
    entries = [Entry("known", ("p.known", "p.gone"))]
    verdict = judge(["p.known", "p.gone", "p.new", "p.same"], {"p.known", "p.new"}, entries)
    assert verdict.unlisted == ("p.new",)
    assert verdict.stale == ("p.gone",)
    assert verdict.listed == (("p.known", "known"),)
    assert not verdict.good


def test_the_lists_can_be_read() -> None:
    assert all(entry.reason for entry in load())


def test_only_the_package_in_imports_changes() -> None:
    text = 'from pyflink.common import Row\n    import pyflink.datastream\nprint("pyflink", pyflinks)\n'
    changed = 'from penstock.common import Row\n    import penstock.datastream\nprint("pyflink", pyflinks)\n'
    assert Side("local").text(text) == changed
    assert Side(PYFLINK).text(text) == text


def test_what_an_example_printed_is_compared_without_its_place_and_the_log() -> None:
    assert printed("2> ('a', 1)\n(b,2)\n\nPYFLINK_CYTHON_ENABLED: True\n") == ("(a,1)", "(b,2)")


def test_pyflink_is_asked_once_for_what_has_not_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "FOLDER", tmp_path / "kept")
    out, asked = tmp_path / "out.jsonl", []

    def ask() -> None:
        asked.append(1)
        out.write_text(f"{len(asked)}")

    for parts, expected in [(["a", "bc"], "1"), (["a", "bc"], "1"), (["ab", "c"], "2"), (["a", "bc"], "1")]:
        kept.keep(parts, out, ask)
        assert out.read_text() == expected


def test_a_failure_of_pyflink_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "FOLDER", tmp_path / "kept")

    def fail() -> None:
        raise RuntimeError("boom")

    with pytest.raises(RuntimeError):
        kept.keep(["a"], tmp_path / "out.jsonl", fail)
    kept.keep(["a"], tmp_path / "out.jsonl", lambda: (tmp_path / "out.jsonl").touch())
    assert (tmp_path / "out.jsonl").exists()


def test_what_a_program_uses_decides_its_outcomes_too(tmp_path: Path) -> None:
    for name, text in {
        "__main__": "from differential.programs import kit",
        "kit": "KIT",
        "timers": "from differential.programs.state import keyed",
        "state": "from differential.programs.kit import Program",
        "other": "OTHER",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    assert len(kept.texts(["timers"], tmp_path)) == 4
    assert "OTHER" not in kept.texts(["timers"], tmp_path)
