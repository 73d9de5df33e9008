"""The frame of a page of HTML that needs nothing else: no network, no script, no other file.

Every text in it comes from a user's code or store and is escaped. As a second lock the page forbids
itself to load or to run anything.
"""

from __future__ import annotations

from html import escape

from keepset.cli.output import one_row

_BEGIN = "<!doctype html>"
_BY = '<meta name="generator" content="keepset'
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)


def framed(title: str, body: str, *, command: str, sheet: str) -> str:
    """Give a whole page.

    Args:
        title: Its title, as plain text.
        body: What it says, as HTML.
        command: The command that made it.
        sheet: Its style.
    """
    return f"""{_BEGIN}
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
{_BY} {command}">
<link rel="icon" href="data:,">
<title>{text(title)}</title>
<style>{sheet}</style>
</head>
<body>
{body}
</body>
</html>
"""


def is_page(begin: bytes) -> bool:
    """Tell whether a file begins as such a page, or is empty: another may take its place."""
    return not begin or (begin.startswith(_BEGIN.encode()) and _BY.encode() in begin)


def text(value: str) -> str:
    """Escape a text for a page: markup, and what a browser cannot show."""
    return escape(one_row(value), quote=True)
