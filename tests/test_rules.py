"""docs/rules.md says how many tests name each rule, docs/rules.json which; both are up to date."""

import json
from pathlib import Path

import pytest

from scripts import rules

ROOT = Path(__file__).parents[1]


def test_the_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "rules.md").read_text(encoding="utf-8") == rules.render(ROOT), "run `make rules`"


def test_the_lists_of_tests_are_up_to_date() -> None:
    assert (ROOT / "docs" / "rules.json").read_text(encoding="utf-8") == rules.data(ROOT), "run `make rules`"


def test_the_page_is_short_enough_to_be_read() -> None:
    assert len(rules.render(ROOT)) < 20_000


def test_no_test_names_an_unknown_rule() -> None:
    known = rules.load_catalogue(ROOT).ids()
    assert [mention for mention in rules.find_mentions(ROOT) if mention.rule not in known] == []


def test_what_is_open_concerns_known_rules() -> None:
    catalogue = rules.load_catalogue(ROOT)
    assert catalogue.open.keys() <= catalogue.ids()


def test_summaries_are_one_line_and_filed_under_their_letter() -> None:
    for section in rules.load_catalogue(ROOT).sections:
        numbers = [int(rule[1:]) for rule in section.rules]
        assert numbers == list(range(1, len(numbers) + 1))
        assert len({rule[0] for rule in section.rules}) == 1
        assert all(summary and "\n" not in summary and "|" not in summary for summary in section.rules.values())


def _named(tmp_path: Path, name: str, text: str) -> list[tuple[str, str]]:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return [(mention.test, mention.rule) for mention in rules.find_mentions(tmp_path)]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('def test_a():\n    """T4: ends with +inf."""', [("test_a", "T4")]),
        ('def test_a():\n    """Ends with +inf (T4, T5)."""', [("test_a", "T4"), ("test_a", "T5")]),
        ('def test_a():\n    """Ends.\n\n    T4, W12.\n    """', [("test_a", "T4"), ("test_a", "W12")]),
        ("def test_a():\n    x = 1  # T4", [("test_a", "T4")]),
        ("def test_a():\n    # T4: the end\n    x = 1", [("test_a", "T4")]),
        ("# T4\n@mark\ndef test_a(): ...\ndef test_b(): ...", [("test_a", "T4")]),
        ("class TestA:\n    def test_b(self):\n        x = 1  # T4", [("TestA::test_b", "T4")]),
        ('"""Timers (S4)."""\ndef test_a(): ...', [("", "S4")]),
        ("def test_a():\n    x = 'T4: no'\n    # put it on S3 please", []),
    ],
)
def test_docstrings_and_comments_name_rules(tmp_path: Path, text: str, named: list[tuple[str, str]]) -> None:
    assert _named(tmp_path, "tests/deep/test_it.py", text) == named


def test_an_unknown_rule_is_seen(tmp_path: Path) -> None:
    ((_, rule),) = _named(tmp_path, "tests/test_it.py", "def test_a(): ...  # T99")
    assert rule not in rules.load_catalogue(ROOT).ids()


def test_examples_name_rules_for_the_whole_file(tmp_path: Path) -> None:
    assert _named(tmp_path, "examples/words.py", '"""U14: word count."""') == [("", "U14")]


def test_transcripts_name_rules_in_a_field(tmp_path: Path) -> None:
    text = "rules: [T4]\ncases:\n- name: late\n  rules: [W7]\n  input: !record {a: 1}\n"
    assert _named(tmp_path, "tests/transcripts/windows.yaml", text) == [("", "T4"), ("late", "W7")]


def test_helpers_of_tests_are_not_tests(tmp_path: Path) -> None:
    assert _named(tmp_path, "tests/oracle.py", '"""T4: oracle."""') == []


def _catalogue_of_two(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "rules.toml").write_text(
        '[open]\nT1 = "the rest"\n[T]\ntitle = "Time"\n[T.rules]\nT1 = "One."\nT2 = "Two."\n'
    )
    _named(tmp_path, "tests/test_it.py", "def test_b(): ...  # T1\ndef test_a(): ...  # T1")
    return tmp_path


def test_the_page_counts_tests_and_says_what_is_missing(tmp_path: Path) -> None:
    page = rules.render(_catalogue_of_two(tmp_path))
    assert "1 of 2 rules have a test, 1 of these leave something open. 2 tests name a rule." in page
    assert "| T1 | One. | 2 | the rest |" in page
    assert "| T2 | Two. |  | all of it: not yet |" in page


def test_the_data_file_lists_the_tests_of_each_rule_in_order(tmp_path: Path) -> None:
    written = json.loads(rules.data(_catalogue_of_two(tmp_path)))
    assert list(written.items()) == [("T1", ["tests/test_it.py::test_a", "tests/test_it.py::test_b"]), ("T2", [])]
