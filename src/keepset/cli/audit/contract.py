"""The contract that an audit recommends, written out: a state for each graph, a rule a field."""

from __future__ import annotations

import keyword
import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from keepset.audit.judging import Judged
from keepset.audit.report import Audit
from keepset.cli import output
from keepset.cli.counts import counted
from keepset.errors import UsageError
from keepset.prove.spelled import Spelling
from keepset.providers.files import Wanted
from keepset.scan.reasons import variable
from keepset.scan.responses import SHAPES
from keepset.verdict import reasons
from keepset.verdict.sentences import size

_TYPES: Final = {
    "text": "str",
    "flag": "bool",
    "integer": "int",
    "number": "float",
    "bytes": "bytes",
    "null": "None",
}
_COLLECTIONS: Final = frozenset({"list", "mapping"})
_TIMES: Final = 4
_LEAST: Final = 12
"""The smallest budget, as a power of two."""
_PLENTY: Final = 1 << 20
_WIDTH: Final = 88
_METADATA: Final = ("response_metadata", "usage_metadata")
_REDUCED: Final = "langgraph"
"""What kinds of stores begin with whose states have reducers, of which nothing is stored."""
_REDUCERS: Final = """
A store does not know the reducers of a graph. Put each of yours behind the rule of its field:
Annotated[list[Any], ks.Keep(), add_messages].
"""


def write_contract(audit: Audit, file: Wanted) -> None:
    """Write the contract.

    Raises:
        UsageError: ``audit.no-state`` where the store has no state; and see `Wanted.writing`.
        StoreError: ``file.cannot-write``.
    """
    if not any(_is_name(one.tally.field) for one in audit.fields):
        raise UsageError(
            "there is no state in this store that a contract could be written for",
            code="audit.no-state",
            hint="A contract has fields: audit a store that holds states with names in them.",
        )
    file.write(contract_text(audit))
    output.note(f"{file.path}: written, {counted(len(audit.fields), 'field')}")


def contract_text(audit: Audit) -> str:
    """Give the text of a module that declares what the store holds, with the rules for it."""
    writing = _Writing(is_ours=audit.survey.is_ours)
    by_graph: dict[str, list[Judged]] = {}
    for one in sorted(audit.fields, key=lambda one: one.tally.number):
        by_graph.setdefault(one.tally.graph, []).append(one)
    classes = [line for graph, fields in by_graph.items() for line in writing.state(graph, fields)]
    place = audit.survey.place.replace("\\", "/").replace('"', "'")
    kind = audit.survey.overview.kind
    named = Path(output.one_row(place)).name
    doc = f"What a checkpoint should hold, by an audit of {named} ({kind})."
    more = f"\n{_REDUCERS}" if kind.startswith(_REDUCED) else ""
    lines = [f'"""{textwrap.shorten(doc, _WIDTH)}{more}"""', "", *writing.imports(), ""]
    return "\n".join([*lines, *writing.functions, *classes])


class _Writing:
    """Writes states; the functions that their rules need are kept beside."""

    def __init__(self, *, is_ours: bool) -> None:
        """Begin with nothing."""
        self._is_ours = is_ours
        self.functions: list[str] = []
        self._spelling = Spelling()
        self._names: set[str] = {"ks", "State"}
        self._modules: set[str] = set()

    def imports(self) -> list[str]:
        """Give the lines that import what was written."""
        first = [f"import {module}" for module in sorted(self._modules)]
        *others, ours = self._spelling.imports()
        return [*first, *others, "", ours]

    def state(self, graph: str, fields: Sequence[Judged]) -> Iterator[str]:
        """Write the state of a graph."""
        name = self._name(f"{_camel(graph)}State") if graph else "State"
        base = self._spelling.of("typing", "TypedDict")
        yield ""
        yield f"class {name}({base}, total=False):"
        doc = f"The state of {output.one_row(graph)}" if graph else "The state"
        yield f'    """{_said(doc)}; a step may lack each of the fields."""'
        for one in fields:
            yield ""
            yield from self._field(one)
        yield ""

    def _field(self, one: Judged) -> Iterator[str]:
        rule, kind = self._rule(one), self._type(one)
        cost = f"{size(one.mean)} a step, {one.share:.1%} of all"
        said = f"{_said(one.verdict.why)} ({cost})"
        if not _is_name(one.tally.field):
            said = f"{_said(one.tally.field)} cannot be the name of a field: {said}"
        yield from textwrap.wrap(said, _WIDTH, initial_indent="    # ", subsequent_indent="    # ")
        if _is_name(one.tally.field):
            annotated = self._spelling.of("typing", "Annotated")
            yield f"    {one.tally.field}: {annotated}[{kind}, {rule}]"

    def _type(self, one: Judged) -> str:
        """Write the type of a field as far as its values tell it."""
        kinds = [kind for kind in one.tally.kinds if kind != "null"]
        written = []
        for kind in sorted(kinds):
            if kind == "list":
                written.append(f"list[{self._any()}]")
            elif kind == "mapping":
                written.append(f"dict[str, {self._any()}]")
            elif kind in _TYPES:
                written.append(_TYPES[kind])
            else:
                return self._any()
        if "float" in written and "int" in written:
            written.remove("int")
        if "null" in one.tally.kinds:
            written.append("None")
        return " | ".join(written) if kinds else self._any()

    def _any(self) -> str:
        return self._spelling.of("typing", "Any")

    def _rule(self, one: Judged) -> str:
        reason, field = one.verdict.reason, one.tally.field
        if one.verdict.keep:
            personal = "personal=True" if one.is_personal else ""
            return _keep(personal, self._budget(one), _without(one))
        if reasons.is_secret(reason):
            return f'ks.Secret("env:{variable((field,))}")'
        if reason == reasons.TEMPORARY:
            return f"ks.Scratch({self._scratch(one)})"
        if reason == reasons.BESIDE_IDS and _is_name(one.using):
            return f'ks.Refetch({self._loader(one)}, using="{one.using}")'
        if reason == reasons.RESPONSE:
            return self._extract(one)
        return f"ks.Reopen({self._opener(one)})"

    def _budget(self, one: Judged) -> str:
        """Give a collection a budget: some times the largest that was met.

        Where a store tells of differences alone it is what is plenty.
        """
        if not {*one.tally.kinds} & _COLLECTIONS:
            return ""
        room = _PLENTY if self._is_ours else _TIMES * one.tally.largest
        return f"max_bytes={1 << max(_LEAST, (room - 1).bit_length()):_}"

    def _extract(self, one: Judged) -> str:
        found = one.tally.details.get(reasons.RESPONSE, "")
        shape = next((shape for shape in SHAPES if shape.id == found), None)
        if shape is not None and not {*one.tally.kinds} & {"list"}:
            return f'ks.Extract("{shape.content}")'
        without = f"without={_globs(shape.metadata)}" if shape and shape.metadata else ""
        return _keep(self._budget(one), without)

    def _scratch(self, one: Judged) -> str:
        self._modules.add("tempfile")
        name = self._name(f"make_{one.tally.field}")
        said = "Make it afresh; a file that was expected there is to be made as well."
        self._function(f"def {name}() -> str:", said, "return tempfile.mkdtemp()")
        return name

    def _loader(self, one: Judged) -> str:
        name = self._name(f"load_{one.tally.field}")
        head = f"def {name}({one.using}: {self._any()}) -> {self._any()}:"
        self._function(head, "Fetch it again.", f'raise LookupError("{name} is to be written")')
        return name

    def _opener(self, one: Judged) -> str:
        name = self._name(f"open_{one.tally.field}")
        head = f"def {name}() -> {self._any()}:"
        self._function(head, "Open it again.", f'raise LookupError("{name} is to be written")')
        return name

    def _function(self, head: str, said: str, body: str) -> None:
        self.functions += ["", head, f'    """{said}"""', f"    {body}", ""]

    def _name(self, wanted: str) -> str:
        """Give a name that nothing in the module has yet."""
        base = re.sub(r"\W", "_", wanted)
        name, number = base, 2
        while name in self._names:
            name, number = f"{base}_{number}", number + 1
        self._names.add(name)
        return name


def _without(one: Judged) -> str:
    """Name the metadata of responses inside of a list of messages, which is not kept."""
    inside = [name for name in _METADATA if name in one.tally.metadata]
    if reasons.RESPONSE not in one.verdict.also or set(one.tally.kinds) - {"list", "null"}:
        return ""
    return f"without={_globs(inside)}" if inside else ""


def _keep(*options: str) -> str:
    return f"ks.Keep({', '.join(filter(None, options))})"


def _globs(names: Sequence[str]) -> str:
    written = ", ".join(f'"*.{name}"' for name in names)
    return written if len(names) == 1 else f"({written})"


def _is_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _said(text: str) -> str:
    """Write a text into a comment or a docstring: it ends neither."""
    return output.one_row(text).replace("\\", "/").replace('"', "'")


def _camel(graph: str) -> str:
    words = re.findall(r"[A-Za-z0-9]+", graph)
    name = "".join(word[:1].upper() + word[1:] for word in words)
    return f"Graph{name}" if not name or name[0].isdigit() else name
