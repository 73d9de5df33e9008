"""The seven rules: what becomes of a field when it is written and when a run resumes.

A rule is an instance that stands in `typing.Annotated`. It is not callable, so that a host which
takes the last callable of the metadata for its own (LangGraph: a reducer) leaves it alone.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from datetime import timedelta
from enum import Enum
from functools import partial
from typing import Any, ClassVar, Final, Literal, get_args

from keepset.contracts.paths import parse_glob, parse_path
from keepset.errors import UsageError


class Missing(Enum):
    """The type of `MISSING`, which stands for "there is no value", where None would be one."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING

Secrets = Literal["withhold", "refuse", "allow"]
Pin = Literal["report", "refuse", "accept"]

_REFERENCE = re.compile(r"[a-z][a-z0-9+.-]*:\S.*")


def _refuse(rule: Rule, what: str, hint: str) -> UsageError:
    return UsageError(f"{rule.kind}: {what}", code="rule.argument", hint=hint)


@dataclass(frozen=True)
class Rule:
    """What becomes of a field. Use one of its seven kinds."""

    stored: ClassVar[bool] = False
    """Whether a checkpoint holds the field's value."""
    restored: ClassVar[bool] = False
    """Whether a resumed run has the field without its value having been stored."""

    @property
    def kind(self) -> str:
        """The rule's name, as a contract's structure has it."""
        return type(self).__name__

    @property
    def function(self) -> Callable[..., Any] | None:
        """The user's function in the rule, or None."""
        return None

    def options(self) -> dict[str, object]:
        """Give the options that differ from their defaults, as JSON values.

        A default is left out, so that an option which a later release adds changes no shape.
        A function is there by its name, never by its code.
        """
        given = {}
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name != "name" and value != option.default:
                given[option.name] = _plain(value, self)
        return given


def _plain(value: object, rule: Rule) -> object:
    if isinstance(value, timedelta):
        return value.total_seconds()
    if callable(value):
        return callable_name(value, getattr(rule, "name", None)) or ""
    return list(value) if isinstance(value, tuple) else value


def callable_name(function: Callable[..., Any], name: str | None = None) -> str | None:
    """Say by which name a function enters a contract's structure.

    Args:
        function: A user's loader, factory or extractor.
        name: The name that was declared for it, which wins.

    Returns:
        The name, or None for a lambda, a `functools.partial` and any other callable whose own
        name says nothing.
    """
    own = None if isinstance(function, partial) else getattr(function, "__name__", None)
    return name or (own if isinstance(own, str) and own != "<lambda>" else None)


@dataclass(frozen=True)
class Keep(Rule):
    """Store the field.

    Attributes:
        personal: Whether the value is personal data.
        subject: The field that names the person whose data this is.
        retain: How long the value may be stored; None for the contract's own limit.
        max_bytes: The budget of the packed value, in bytes.
        append_only: Whether the collection only ever grows at its end.
        without: Globs of the paths inside the value that are left out, such as
            ``"*.response_metadata"``; one or a tuple.
        secrets: What happens to a secret that is found in the value: ``withhold`` (a marker is
            stored in its place), ``refuse`` (the save fails) or ``allow``.
        allow: Codes of the detectors' reasons that are accepted here, such as
            ``"response.object"``; one or a tuple.

    Raises:
        UsageError: ``rule.argument`` for an option of a wrong kind.
    """

    stored: ClassVar[bool] = True

    personal: bool = field(default=False, kw_only=True)
    subject: str | None = field(default=None, kw_only=True)
    retain: timedelta | None = field(default=None, kw_only=True)
    max_bytes: int | None = field(default=None, kw_only=True)
    append_only: bool = field(default=False, kw_only=True)
    without: str | tuple[str, ...] = field(default=(), kw_only=True)
    secrets: Secrets = field(default="withhold", kw_only=True)
    allow: str | tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        _flag(self, "personal")
        _flag(self, "append_only")
        if self.subject is not None and not (isinstance(self.subject, str) and self.subject):
            raise _refuse(self, "subject= is not a field's name", 'Write subject="user_id".')
        if self.retain is not None and not (
            isinstance(self.retain, timedelta) and self.retain > timedelta(0)
        ):
            raise _refuse(self, "retain= is not a time", "Write retain=timedelta(days=30).")
        if self.max_bytes is not None and not (type(self.max_bytes) is int and self.max_bytes > 0):
            raise _refuse(self, "max_bytes= is not a number of bytes", "Write max_bytes=65_536.")
        if self.secrets not in get_args(Secrets):
            raise _refuse(
                self, "secrets= is not known", 'Write secrets="withhold", "refuse" or "allow".'
            )
        _texts(self, "without", 'Write without="*.response_metadata", or a tuple of such paths.')
        _texts(self, "allow", 'Write allow="response.object", or a tuple of reason codes.')
        for glob in self.without:
            # It is applied at each save: an item by its number would be another one each time.
            if isinstance(parse_glob(glob)[-1], int):
                raise _refuse(
                    self, f"without={glob!r} ends at a numbered item", "End it at a name or at [*]."
                )


@dataclass(frozen=True)
class Refetch(Rule):
    """Do not store the field; a resumed run loads it again.

    Attributes:
        load: Function (or coroutine function) that is called with the values of `using`, in
            their order, and gives the field's value.
        using: The field, or the fields, that say what to load.
        pin: None stores nothing at all. Else a digest of the value is stored, and a resumed run
            whose loaded value has another digest reports it and goes on (``report``), is refused
            (``refuse``), or goes on in silence with the new digest in its history (``accept``).
        name: Name of `load` in the contract's structure; its ``__name__`` without it.

    Raises:
        UsageError: ``rule.argument`` for an argument of a wrong kind, or a `load` that cannot be
            called with as many values as `using` names.
    """

    restored: ClassVar[bool] = True

    load: Callable[..., Any]
    using: str | tuple[str, ...] = field(kw_only=True)
    pin: Pin | None = field(default=None, kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        hint = 'Write Refetch(load_documents, using="doc_ids"), or a tuple of names.'
        _texts(self, "using", hint)
        if not self.using:
            raise _refuse(self, "using= names no field", hint)
        if self.pin is not None and self.pin not in get_args(Pin):
            raise _refuse(self, "pin= is not known", 'Write pin="report", "refuse" or "accept".')
        _function(self, self.load, len(self.using), "load")
        _name(self)

    @property
    def function(self) -> Callable[..., Any]:
        """The loader or factory."""
        return self.load


@dataclass(frozen=True)
class _Made(Rule):
    restored: ClassVar[bool] = True

    factory: Callable[[], Any]
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _function(self, self.factory, 0, "factory")
        _name(self)

    @property
    def function(self) -> Callable[..., Any]:
        """The loader or factory."""
        return self.factory


@dataclass(frozen=True)
class Reopen(_Made):
    """Do not store the field; a resumed run makes it once, when its state is first asked for.

    Attributes:
        factory: Function without arguments, such as one that connects to a database.
        name: Name of `factory` in the contract's structure; its ``__name__`` without it.

    Raises:
        UsageError: ``rule.argument`` for a factory that cannot be called without arguments.
    """


@dataclass(frozen=True)
class Scratch(_Made):
    """Do not store the field; a resumed run gets a fresh one, such as a temporary folder.

    Attributes:
        factory: Function without arguments that makes it.
        name: Name of `factory` in the contract's structure; its ``__name__`` without it.

    Raises:
        UsageError: ``rule.argument`` for a factory that cannot be called without arguments.
    """


@dataclass(frozen=True)
class Secret(Rule):
    """Store the reference and never the value; a resumed run resolves it.

    Attributes:
        reference: Where the secret is: ``env:OPENAI_API_KEY``, ``file:/run/secrets/key``,
            ``keyring:service/user``.

    Raises:
        UsageError: ``rule.argument`` for a text that is no reference (it is not repeated, since
            it may be the secret itself).
    """

    restored: ClassVar[bool] = True

    reference: str

    def __post_init__(self) -> None:
        if not (isinstance(self.reference, str) and _REFERENCE.fullmatch(self.reference)):
            raise _refuse(
                self,
                "what was given is not a reference to a secret",
                'Write where the secret is, never the secret: Secret("env:OPENAI_API_KEY").',
            )


@dataclass(frozen=True)
class Extract(Rule):
    """Store only a part of what a step gives, and let the next step see only that part.

    Attributes:
        what: Path to the part (``"choices[0].message.content"``), or a function of the whole.
        name: Name of the function in the contract's structure; its ``__name__`` without it.

    Raises:
        UsageError: ``rule.argument`` for neither of them, ``path.syntax`` for a path that cannot
            be read.
    """

    stored: ClassVar[bool] = True

    what: str | Callable[[Any], Any]
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.what, str):
            parse_path(self.what)
        else:
            _function(self, self.what, 1, "what to extract")
        _name(self)

    @property
    def function(self) -> Callable[..., Any] | None:
        """The function that extracts, or None where a path does."""
        return None if isinstance(self.what, str) else self.what


@dataclass(frozen=True)
class Drop(Rule):
    """Do not store the field; a resumed run has the default, or does not have the field.

    Attributes:
        default: What the field is instead; a copy of it is handed out each time. Without it the
            state's own default is used, else the field is absent.
    """

    default: object = field(default=MISSING, kw_only=True, hash=False)

    def options(self) -> dict[str, object]:
        """Say only that there is a default, since a default is a value."""
        return {} if self.default is MISSING else {"default": True}


RULES: Final[tuple[type[Rule], ...]] = (Keep, Refetch, Reopen, Secret, Scratch, Extract, Drop)


def _flag(rule: Rule, option: str) -> None:
    if not isinstance(getattr(rule, option), bool):
        raise _refuse(rule, f"{option}= is not True or False", f"Write {option}=True.")


def _texts(rule: Rule, option: str, hint: str) -> None:
    """Make one text a tuple of one, and refuse anything but texts."""
    value = getattr(rule, option)
    texts = (value,) if isinstance(value, str) else value
    if isinstance(texts, list):
        texts = tuple(texts)
    if not isinstance(texts, tuple) or not all(isinstance(t, str) and t for t in texts):
        raise _refuse(rule, f"{option}= is neither a text nor a tuple of texts", hint)
    object.__setattr__(rule, option, texts)


def _name(rule: Refetch | _Made | Extract) -> None:
    if rule.name is not None and not (isinstance(rule.name, str) and rule.name):
        raise _refuse(rule, "name= is not a name", 'Write name="load_documents".')


def _function(rule: Rule, function: object, arguments: int, what: str) -> None:
    """Refuse what is not a function, or one that does not take so many arguments."""
    if not callable(function):
        raise _refuse(
            rule,
            f"{what} is not callable but a {type(function).__name__}",
            "Give the function itself, without calling it.",
        )
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # many built-in functions do not say what they take
    try:
        signature.bind(*([None] * arguments))
    except TypeError:
        raise _refuse(
            rule,
            f"{what} cannot be called with {arguments} arguments",
            f"It is called with exactly {arguments}; wrap it in a function that takes them.",
        ) from None
