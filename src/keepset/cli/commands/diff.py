"""`keepset diff`: what changed between two checkpoints of a run."""

from __future__ import annotations

from typing import Any

import click

from keepset.cli import look, output
from keepset.cli.compare import differences
from keepset.cli.counts import counted
from keepset.cli.lines import read_lines
from keepset.cli.options import open_store, store_options
from keepset.cli.render import MASKED, one_line

WIDTH = 70

EPILOG = """\b
Example:
  keepset diff ticket-42 3 4 --store sqlite:///runs.db
"""


@click.command("diff", epilog=EPILOG)
@click.argument("run_id", metavar="RUN")
@click.argument("old", metavar="A")
@click.argument("new", metavar="B")
@store_options()
@click.option("--line", "branch", type=int, metavar="N", help="Which line; else the newest's.")
@click.option("--reveal", is_flag=True, help="Show personal fields as well.")
def command(run_id: str, old: str, new: str, *, as_json: bool, reveal: bool, **chosen: Any) -> None:
    """Show what is different between two steps, A and B, of a run.

    A and B are numbers of steps on one line, or ids of checkpoints on any line; of an id, the
    last 8 characters do.
    """
    with open_store(chosen["store_url"], chosen["tenant"]) as store:
        run = store.inspect(run_id)
        lines = read_lines(run, chosen["branch"])
        ends = [lines.find(named) for named in (old, new)]
        sides = [run.at(checkpoint.id).values for checkpoint in ends]
    changes: list[dict[str, Any]] = []
    names = dict.fromkeys((*sides[0], *sides[1]))
    personal = look.personal_fields(run.row.contract.structure, names)
    for name in names:
        before, after = (look.rendered({name: v[name]}, ()) if name in v else {} for v in sides)
        found = list(differences(before, after))
        hidden = name in personal and not reveal
        changes += _masked(name, found) if hidden and found else found
    if as_json:
        first, second = ({"id": c.id, "seq": c.seq, "branch": c.branch} for c in ends)
        output.result("diff", {"run": run_id, "old": first, "new": second, "changes": changes})
        return
    output.table(
        ("path", "change", "old", "new"),
        [
            (
                change["path"],
                change["change"],
                *(one_line(change[k], WIDTH) if k in change else "" for k in ("old", "new")),
            )
            for change in changes
        ],
    )
    output.note(counted(len(changes), "difference") if changes else "no differences")


def _masked(name: str, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Say only that a personal field changed; the paths inside it may be personal as well."""
    change = found[0]["change"] if len(found) == 1 and found[0]["path"] == name else "changed"
    sides = {"added": ("new",), "removed": ("old",)}.get(change, ("old", "new"))
    return [{"path": name, "change": change, **dict.fromkeys(sides, MASKED)}]
