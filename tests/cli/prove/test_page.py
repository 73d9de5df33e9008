"""The page of a proof: one file that needs nothing else, as a real browser shows it."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from keepset.cli.prove.page import page
from keepset.prove.proof import Proof
from tests.cli.prove import flows

AGAIN = "keepset prove shop:flow"
BROWSER = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (found := shutil.which(name))
    ),
    None,
)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here")


class Seen(HTMLParser):
    """Elements of a page with their attributes, and its text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def cells(self) -> list[dict[str, str | None]]:
        """The links of the heat map."""
        return [
            given
            for tag, given in self.elements
            if tag == "a" and (given.get("href") or "").startswith("#cell-")
        ]


def of(name: str) -> Proof:
    proof: Proof = getattr(flows, name)()
    return proof


def seen(name: str) -> Seen:
    return Seen(page(of(name), AGAIN))


def test_each_cell_has_a_title_and_a_card_that_says_what_went_wrong() -> None:
    found = seen("ticket")
    proof = of("ticket")
    cells = found.cells()
    assert len(cells) == len(proof.fields) * len(proof.points)
    cards = {given.get("id") for tag, given in found.elements if tag == "section"}
    assert {(cell["href"] or "")[1:] for cell in cells} == cards
    titles = [cell["title"] for cell in cells]
    assert "charged, after find: needed. what observe gave: 2 instead of 1" in titles
    assert "price, after find: not needed" in titles


def test_it_asks_for_nothing_from_anywhere() -> None:
    for name in ("ticket", "hostile"):
        found = seen(name)
        tags = {tag for tag, _ in found.elements}
        assert not tags & {"script", "img", "iframe", "object", "embed", "form", "base", "audio"}
        for _, given in found.elements:
            assert not {"src", "srcset", "action", "background"} & set(given)
            assert not any(key.startswith("on") for key in given)
            assert (given.get("href") or "#").startswith(("#", "data:,"))
    assert "url(" not in page(of("ticket"), AGAIN)
    assert "@import" not in page(of("ticket"), AGAIN)


def test_a_hostile_name_is_text_and_nothing_else() -> None:
    found = seen("hostile")
    assert flows.HOSTILE in found.text
    assert not any(tag == "img" for tag, _ in found.elements)
    assert "\x1b" not in page(of("hostile"), AGAIN)


def test_everything_that_can_be_chosen_is_reached_by_the_keyboard() -> None:
    found = seen("ticket")
    assert all(cell["aria-label"] for cell in found.cells())
    scrolled = [given for _, given in found.elements if "scroll" in (given.get("class") or "")]
    assert scrolled
    assert all(given["tabindex"] == "0" and given["aria-label"] for given in scrolled)


def test_the_page_says_how_it_was_measured() -> None:
    source = page(of("ticket"), AGAIN, [("Processes", "each resume in a process of its own")])
    text = Seen(source).text
    assert "each resume in a process of its own" in text
    assert "among them two or more at each point with everything there" in text
    assert "prove.dropped-but-needed" in text


def test_a_proof_of_any_kind_has_a_page() -> None:
    for name in ("sound", "unrepeatable", "half_measured", "locked", "stale"):
        assert "How it was measured" in seen(name).text
    assert "not repeatable" in seen("unrepeatable").text


@contextmanager
def _listening() -> Iterator[tuple[str, list[str]]]:
    """Listen where a page might send something."""
    heard: list[str] = []

    class Ear(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Ear)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", heard
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _browse(file: Path, profile: Path, *options: str, fragment: str = "") -> str:
    assert BROWSER
    done = subprocess.run(
        [
            *(BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            *("--disable-background-networking", "--disable-component-update"),
            *(f"--user-data-dir={profile}", *options, f"{file.as_uri()}{fragment}"),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=90,
    )
    return done.stdout


@needs_browser
def test_a_browser_shows_the_cells_and_sends_nothing(tmp_path: Path) -> None:
    file = tmp_path / "proof.html"
    with _listening() as (place, heard):
        source = page(of("hostile"), AGAIN).replace("http://127.0.0.1:9", place)
        file.write_text(source, "utf-8")
        shown = Seen(_browse(file, tmp_path / "one", "--dump-dom"))
        assert heard == []
        # The control: the same name, not escaped, on a page without our policy.
        file.write_text(flows.HOSTILE.replace("http://127.0.0.1:9", place), "utf-8")
        _browse(file, tmp_path / "two", "--dump-dom")
        assert heard == ["/x"]
    assert len(shown.cells()) == len(of("hostile").fields)
    assert not any(tag == "img" for tag, _ in shown.elements)


@needs_browser
@pytest.mark.parametrize(
    ("fragment", "focused", "opened"),
    [("", "", ""), ("#cell-3-2", "", "cell-3-2"), ("", "#cell-4-1", "cell-4-1")],
)
def test_a_cell_that_is_chosen_or_reached_by_the_keyboard_opens_its_card(
    tmp_path: Path, fragment: str, focused: str, opened: str
) -> None:
    # What is hidden and what is shown is told by a script of the test's own, in a copy.
    told = (
        "<script>addEventListener('load', () => {"
        f"document.querySelector('a[href=\"{focused}\"]')?.focus();"
        "const shown = c => getComputedStyle(c).display !== 'none';"
        "const open = [...document.querySelectorAll('.card')].filter(shown).map(c => c.id);"
        "document.title = `open:${open} wide:${document.documentElement.scrollWidth}`})</script>"
    )
    source = re.sub(r"<meta http-equiv=[^>]*>", "", page(of("ticket"), AGAIN))
    file = tmp_path / "proof.html"
    file.write_text(source.replace("</body>", f"{told}</body>"), "utf-8")
    narrow = "--window-size=500,900"  # no browser's window is narrower than this
    dom = _browse(file, tmp_path / "profile", narrow, "--dump-dom", fragment=fragment)
    title = re.search(r"<title>open:(\S*) wide:(\d+)</title>", dom)
    assert title is not None
    assert title[1] == opened
    assert int(title[2]) <= 500, "a phone need not scroll the page sideways"
