"""The page of an audit: one file that needs nothing else, as a real browser shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from keepset.audit.report import Audit
from keepset.cli.audit.page import page
from tests.audit import naive
from tests.audit.memory import MemoryReader
from tests.audit.test_survey import Rows, audit, state
from tests.cli.prove.test_page import Seen, _browse, _listening, needs_browser

AGAIN = ("keepset", "audit", "checkpoints.sqlite")
HOSTILE = '<img src="http://127.0.0.1:9/x">'


@pytest.fixture(scope="module")
def found() -> Audit:
    return audit(MemoryReader(naive.saver(fails=True)))


def hostile() -> Audit:
    rows = [state("a", step, HOSTILE, {HOSTILE: naive.KEY}) for step in range(3)]
    return audit(Rows(*rows))


def test_it_asks_for_nothing_from_anywhere(found: Audit) -> None:
    for one in (found, hostile()):
        source = page(one, AGAIN)
        seen = Seen(source)
        tags = {tag for tag, _ in seen.elements}
        assert not tags & {"script", "img", "iframe", "object", "embed", "form", "base"}
        for _, given in seen.elements:
            assert not {"src", "srcset", "action", "background"} & set(given)
            assert not any(key.startswith("on") for key in given)
            assert (given.get("href") or "#").startswith(("#", "data:,"))
        assert "url(" not in source
        assert "@import" not in source


def test_no_value_of_the_store_is_on_the_page(found: Audit) -> None:
    source = page(found, AGAIN)
    assert not any(
        value in source for value in (naive.KEY, naive.METADATA_KEY, naive.WORKDIR, "sky blue")
    )


def test_each_field_has_its_verdict_and_each_finding_its_place(found: Audit) -> None:
    text = Seen(page(found, AGAIN)).text
    for one in found.fields:
        assert one.name in text
        assert one.verdict.why in text
    assert "errors: __error__" in text
    assert "metadata: openai_api_key" in text


def test_the_charts_say_in_words_what_they_show(found: Audit) -> None:
    charts = [given for tag, given in Seen(page(found, AGAIN)).elements if tag == "svg"]
    labels = [given["aria-label"] or "" for given in charts]
    assert [label.partition(".")[0] for label in labels] == [
        "Bytes per step",
        "Share by field",
        "Growth",
        "Age",
    ]
    assert all(given["role"] == "img" for given in charts)
    assert "docs: " in labels[1]


def test_an_empty_store_has_a_page() -> None:
    assert "Clean" in page(audit(Rows()), AGAIN)


@needs_browser
def test_a_browser_shows_a_hostile_name_as_text_and_sends_nothing(tmp_path: Path) -> None:
    file = tmp_path / "audit.html"
    with _listening() as (place, heard):
        source = page(hostile(), AGAIN).replace("http://127.0.0.1:9", place)
        file.write_text(source, "utf-8")
        shown = Seen(_browse(file, tmp_path / "one", "--dump-dom"))
        assert heard == []
        # The control: the same name, not escaped, on a page without our policy.
        file.write_text(HOSTILE.replace("http://127.0.0.1:9", place), "utf-8")
        _browse(file, tmp_path / "two", "--dump-dom")
        assert heard == ["/x"]
    assert not any(tag == "img" for tag, _ in shown.elements)


@needs_browser
@pytest.mark.parametrize("width", [500, 1280])
def test_a_browser_draws_the_charts_and_a_phone_need_not_scroll_sideways(
    found: Audit, tmp_path: Path, width: int
) -> None:
    # What is drawn, and how large, is told by a script of the test's own, in a copy.
    told = (
        "<script>addEventListener('load', () => {"
        "const box = one => one.getBoundingClientRect();"
        "const drawn = [...document.querySelectorAll('rect,circle,polyline')].filter("
        "one => box(one).width > 0 && box(one).height > 0);"
        "const out = [...document.querySelectorAll('svg :not(title)')].filter(one => {"
        "const inner = box(one), outer = box(one.closest('svg'));"
        "return inner.right > outer.right + 1 || inner.left < outer.left - 1});"
        "document.title = `drawn:${drawn.length} out:${out.length} "
        "wide:${document.documentElement.scrollWidth}`})</script>"
    )
    source = re.sub(r"<meta http-equiv=[^>]*>", "", page(found, AGAIN))
    file = tmp_path / "audit.html"
    file.write_text(source.replace("</body>", f"{told}</body>"), "utf-8")
    dom = _browse(file, tmp_path / "profile", f"--window-size={width},2000", "--dump-dom")
    title = re.search(r"<title>drawn:(\d+) out:(\d+) wide:(\d+)</title>", dom)
    assert title is not None
    assert int(title[1]) > len(found.fields)
    assert int(title[2]) == 0, "nothing is cut off"
    assert int(title[3]) <= width
