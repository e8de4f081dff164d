"""The guide does what it says: snippets are run, outputs compared, links lead somewhere, translations keep step."""

import re
from pathlib import Path

import pytest

from scripts.pictures import FOLDER, pictures
from tests.docs.pages import ROOT, Block, blocks, headings, links, pages, reference_pages
from tests.docs.player import play

GUIDE, ZH = ROOT / "docs" / "guide", ROOT / "docs" / "zh"
TRANSLATIONS = [(ROOT / "README.md", ZH / "README.md"), (GUIDE / "ideas.md", ZH / "ideas.md")]
SPARK_HOSTS = ("bounded", "streaming")


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT / "docs"))


def _hosts(page: Path) -> set[str]:
    return {block.host for block in blocks(page) if block.language in ("python", "console") and block.title is None}


@pytest.mark.parametrize("page", [page for page in pages() if "local" in _hosts(page)], ids=_name)
def test_every_snippet_of_a_page_does_what_the_page_says(page: Path, tmp_path: Path) -> None:
    assert play(page, tmp_path, ("local",)) > 0


@pytest.mark.spark
def test_snippets_that_need_spark(tmp_path: Path) -> None:
    """All of them in one session; what a page has said before is at hand."""
    with_spark = [page for page in pages() if _hosts(page) & set(SPARK_HOSTS)]
    assert with_spark
    for page in with_spark:
        folder = tmp_path / page.stem
        folder.mkdir()
        play(page, folder, ("local", *SPARK_HOSTS))


def test_hosts_of_snippets_are_known() -> None:
    for page in pages():
        assert _hosts(page) <= {"local", *SPARK_HOSTS}, page


def _targets() -> list[tuple[Path, str]]:
    others = ("README.md", "examples/README.md", "docs/index.md", "docs/zh/README.md")
    everything = [*pages(), *(ROOT / other for other in others)]
    return [(page, link) for page in everything for link in links(page) if not link.startswith(("http", "mailto:"))]


@pytest.mark.parametrize(("page", "link"), _targets(), ids=lambda value: getattr(value, "stem", value))
def test_links_lead_somewhere(page: Path, link: str) -> None:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    assert target.exists(), f"{page}: {link}"
    if anchor:
        assert anchor in {_slug(heading) for heading in headings(target)}, f"{page}: {link}"


def _slug(heading: str) -> str:
    words = re.sub(r"[^\w\s-]", "", heading.lstrip("# ")).strip().lower()
    return re.sub(r"[\s]+", "-", words)


def _code(page: Path) -> list[tuple[str, str | None, str]]:
    """Blocks without what is meant for readers: comments are translated, and so is `text` that is not an output."""
    return [(b.language, b.title, _without_comments(b)) for b in blocks(page) if b.language != "text"]


def _leads_to(page: Path) -> list[Path]:
    """Targets of links, without those to pages that have a translation: there each language has its own."""
    translated = {page for pair in TRANSLATIONS for page in pair}
    targets = [(page.parent / link.partition("#")[0]).resolve() for link in links(page)]
    return [target for target in targets if target not in translated]


def _without_comments(block: Block) -> str:
    return re.sub(r"(?m) *# .*$", "", block.text)


@pytest.mark.parametrize(("page", "translation"), TRANSLATIONS, ids=lambda page: page.stem)
def test_a_translation_keeps_step(page: Path, translation: Path) -> None:
    """The same headings at the same places, the same snippets, the same pictures, and Chinese in between."""
    assert [h.split()[0] for h in headings(translation)] == [h.split()[0] for h in headings(page)]
    assert _code(translation) == _code(page)
    assert _leads_to(translation) == _leads_to(page)
    assert all(re.search(r"[\u4e00-\u9fff]", heading) for heading in headings(translation)[1:])


@pytest.mark.parametrize("name", sorted(pictures()))
def test_pictures_are_what_the_jobs_draw(name: str) -> None:
    """`make pictures` draws them anew."""
    assert (FOLDER / name).read_text(encoding="utf-8") == pictures()[name]


def test_the_picture_of_the_architecture_is_shown_and_says_all_it_has_to_say() -> None:
    assert "pictures/record.svg" in links(ROOT / "docs" / "architecture.md")
    assert "…" not in (FOLDER / "pictures" / "record.svg").read_text(encoding="utf-8"), "a text is too long for its box"


def test_every_page_is_in_the_site() -> None:
    listed = set(re.findall(r"^ +- (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert {_name(page) for page in [*pages(), *reference_pages()]} <= listed


def _read_by_users() -> list[Path]:
    """All pages but those on how Penstock works, and the reference, which is as the docstrings are."""
    inside = {"architecture.md", "rules.md"}
    docs = [page for page in (ROOT / "docs").glob("*.md") if page.name not in inside]
    return [*pages(), *docs, ROOT / "README.md", ZH / "README.md", ROOT / "examples" / "README.md"]


def test_users_are_not_shown_codes_of_rules() -> None:
    code = re.compile(r"\([PGTSOWCFXU]\d{1,2}(?:, ?[PGTSOWCFXU]\d{1,2})*\)")
    found = {page.name: code.findall(page.read_text(encoding="utf-8")) for page in _read_by_users()}
    assert {name: codes for name, codes in found.items() if codes} == {}
