"""What a run is given on the command line: JSON, a file of it, or the name of an object."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from keepset.errors import NotFoundError, UsageError


def given_by(text: str | None, option: str) -> tuple[Any, ...] | str:
    """Read what an option gives.

    Args:
        text: JSON, the path of a file with JSON, or ``MODULE:NAME``; None for nothing.
        option: The option.

    Returns:
        What is given, the items of a list each by itself; a name is given back, for each process
        to import.

    Raises:
        NotFoundError: ``prove.no-file``.
        UsageError: ``prove.json``.
    """
    if text is None:
        return ()
    if _is_json(text):
        return _several(_parsed(text, option))
    path = Path(text)
    if path.suffix == ".json" or path.exists():
        return _several(_parsed(_read(path, option), option))
    if ":" in text:
        return text
    raise NotFoundError(
        f"{option}: there is no file {text}",
        code="prove.no-file",
        hint=f"Give a file of JSON, JSON itself, or a name: {option} app.flow:INPUT.",
    )


def named(text: str, option: str) -> str:
    """Say what an option gives, so that no value of a run stands in a report: JSON is a file."""
    return f"{option.removeprefix('--').upper()}.json" if _is_json(text) else text


def _is_json(text: str) -> bool:
    return text.lstrip()[:1] in {"{", "["}


def _read(path: Path, option: str) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NotFoundError(
            f"{option}: {path} cannot be read ({type(error).__name__})",
            code="prove.no-file",
            hint="Look at the path, and at who may read it; it is read as UTF-8.",
        ) from error


def _parsed(text: str, option: str) -> object:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = ""
        if isinstance(error, json.JSONDecodeError):
            where = f", line {error.lineno} column {error.colno}"
        raise UsageError(
            f"{option}: that is no JSON{where}",
            code="prove.json",
            hint='Write it as {"question": "Why?"}, in quotes for the shell.',
        ) from error
    return value


def _several(value: object) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list) else (value,)
