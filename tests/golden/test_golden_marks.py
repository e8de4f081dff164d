"""Operators without a uid are found again by a version that moved or renamed code inside the library."""

import json

from penstock.core.program.marks import Mark
from tests.golden.unnamed import MARKS, marks


def test_marks_are_those_of_the_checkpoints_that_exist() -> None:  # F4
    kept = {name: Mark.read(text) for name, text in json.loads(MARKS.read_text(encoding="utf-8")).items()}
    found = {name: Mark.read(text) for name, text in marks().items()}
    assert found.keys() == kept.keys()
    assert [name for name, mark in kept.items() if not mark.same(found[name])] == []
    assert [name for name, mark in kept.items() if mark.names != found[name].names] == []
