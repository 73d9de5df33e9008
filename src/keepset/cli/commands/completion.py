"""`keepset completion`: the script that a shell completes our commands with."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from keepset.cli import output
from keepset.cli.app import COMPLETE, PROGRAM

EPILOG = """\b
Example:
  keepset completion bash > ~/.local/share/bash-completion/completions/keepset
"""


@click.command("completion", epilog=EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.option("--json", "as_json", is_flag=True, help="Print the script in a JSON document.")
@click.pass_context
def command(ctx: click.Context, shell: str, *, as_json: bool) -> None:
    """Print the completion script of a shell."""
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    root = ctx.find_root().command
    script = kind(root, {}, PROGRAM, COMPLETE).source()
    if as_json:
        output.result("completion", {"shell": shell, "script": script})
    else:
        output.text(script)
