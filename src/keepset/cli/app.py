"""The group of commands and the top of the process: exit codes, errors, interrupts.

A command is a module in `keepset.cli.commands` that holds one `click.Command` named `command`;
its name on the command line is the module's name with dashes, and without the stroke that ends one
which would be a word of Python's own. Nothing else registers it.
"""

from __future__ import annotations

import difflib
import errno
import importlib
import keyword
import os
import pkgutil
import signal
import sys
import traceback
from typing import TYPE_CHECKING, NoReturn

import click
from click.shell_completion import shell_complete

from keepset.cli import commands, output
from keepset.errors import KeepsetError, StoreError

if TYPE_CHECKING:
    from types import FrameType

FINDINGS = 40
BUG = 1
INTERRUPT = 130
BROKEN_PIPE = 141
PROGRAM = "keepset"
TRACEBACK = "KEEPSET_TRACEBACK"
BEHIND = ("--json", "--store", "--tenant")
"""Options that commands have and the program itself has not."""
NO_OUTPUT = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
"""What a stream fails with that has no room, or that nobody opened."""
ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Signals by which a process is asked to end."""
COMPLETE = "_KEEPSET_COMPLETE"
"""What a shell sets when it wants to know how a command line may go on."""

EXAMPLES = """\b
Examples:
  keepset demo
  keepset check app.state:Ticket
  keepset runs --store sqlite:///runs.db
"""

CODES = """\b
Exit codes:
  0 fine    2 usage      3 not found   4 conflict    5 policy   6 schema
  7 damaged 8 undecodable 9 sealed    11 store      40 findings
  50 it could not be found out
  1 a bug in keepset   130 interrupted   141 the reader went away
"""


class Commands(click.Group):
    """A group that finds its commands in the package and imports only the one that is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name all commands."""
        del ctx
        names = (m.name.rstrip("_") for m in pkgutil.iter_modules(commands.__path__))
        return sorted(name.replace("_", "-") for name in names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        name = cmd_name.replace("-", "_")
        own = f"{name}_" if keyword.iskeyword(name) else name
        module = importlib.import_module(f"{commands.__name__}.{own}")
        command = module.command
        if not isinstance(command, click.Command):
            raise TypeError(f"{module.__name__}.command is not a click command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one may have been meant."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"No such command {output.one_row(args[0])!r}.{meant}")
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read what stands in front of the command; options of commands do not."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name not in BEHIND:
                raise
            option = error.option_name
            ctx.fail(f"{option} goes behind the command, as in: {PROGRAM} runs {option} ...")


@click.group(
    cls=Commands,
    help=f"Keep in a checkpoint what resuming needs, and nothing else.\n\n{EXAMPLES}\n{CODES}",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="keepset", message="%(prog)s %(version)s")
def cli() -> None:
    """Fence the commands; see `Commands`."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its exit code.

    Args:
        arguments: The arguments after the program's name; those of the process by default.
    """
    given = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        # A terminal of another encoding is shown an escape in place of what it does not have.
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")
    try:
        for number in ENDING:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end)
        code = run(given)
    except Ended as ended:
        code = -ended.number
    # Only now nothing holds what was interrupted as it began, so that all of it has been closed.
    if code < 0:
        signal.raise_signal(-code)  # as if nobody had listened
    sys.exit(code)


class Ended(BaseException):
    """Somebody asks the process to end: on the way out nothing is left behind on the disk."""

    def __init__(self, number: int) -> None:
        """Remember by which signal."""
        super().__init__(number)
        self.number = number


def _end(number: int, _: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)  # who asks again does not wait
    raise Ended(number)


def run(arguments: list[str]) -> int:
    """Run one command line and give its exit code; nothing is raised."""
    as_json = "--json" in arguments
    try:
        return _run(arguments, as_json=as_json)
    except OSError:  # not even stderr takes what there is to say
        return StoreError.exit_code


def _run(arguments: list[str], *, as_json: bool) -> int:
    if sys.stdout is None:  # what Python makes of one that is closed
        return _refused(OSError(errno.EBADF, "stdout is closed"), as_json=as_json)
    try:
        code = _invoke(arguments, as_json=as_json)
        sys.stdout.flush()
    except BrokenPipeError:
        _let_go_of_stdout()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        if as_json:
            output.error("interrupted", "interrupted", retryable=True)
        else:
            output.note("interrupted")
        return INTERRUPT
    except OSError as error:
        return _refused(error, as_json=as_json)
    except Exception as error:  # noqa: BLE001 - the top of the process, the one place for it
        return _bug(error, as_json=as_json)
    return code


def _invoke(arguments: list[str], *, as_json: bool) -> int:
    asked = os.environ.get(COMPLETE)
    if asked:
        return shell_complete(cli, {}, PROGRAM, COMPLETE, asked)
    try:
        # Not cli.main(): it ends the process by itself when the reader of our output goes away.
        with cli.make_context(PROGRAM, list(arguments)) as context:
            result = cli.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.Abort as abort:
        raise KeyboardInterrupt from abort
    except click.ClickException as error:
        if as_json:
            output.error("usage", error.format_message(), hint="Add --help for what it takes.")
        else:
            error.show()
        return error.exit_code
    except KeepsetError as error:
        output.keepset_error(error, as_json=as_json)
        return error.exit_code
    return result if isinstance(result, int) else 0


def _refused(error: OSError, *, as_json: bool) -> int:
    """Report what the operating system refused: most likely to take what we print.

    An error about a file has its name; one about a stream has none.
    """
    why = error.strerror or type(error).__name__
    if error.filename is None and error.errno in NO_OUTPUT:
        problem = StoreError(
            f"the output could not be written: {why}",
            code="output.failed",
            hint="Look at where stdout and stderr go, and at the room there.",
        )
    else:
        place = "" if error.filename is None else f", {error.filename}"
        problem = StoreError(
            f"the system refuses a file or folder: {why}{place}",
            code="system.refused",
            hint="Look at the path or the current folder: is it there, and who may use it?",
        )
    output.keepset_error(problem, as_json=as_json)
    return problem.exit_code


def _bug(error: Exception, *, as_json: bool) -> int:
    """Report an error that nobody foresaw; its text may hold a value, so only its type is told."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else "?"  # noqa: PTH119 - a name from a traceback, not a path to use
    message = f"{type(error).__name__} at {place}: this is a bug in keepset"
    hint = f"Set {TRACEBACK}=1 to see where it happened; the text may hold values of your state."
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error, file=sys.stderr)
    if as_json:
        output.error("bug", message, hint=hint)
    else:
        output.note(f"error: {message} [bug]\n{hint}")
    return BUG


def _let_go_of_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's own flush at exit is quiet as well."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)
