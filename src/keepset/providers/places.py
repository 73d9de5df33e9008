"""Folders whose files may be gone after a restart."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def temporary_roots() -> tuple[str, ...]:
    """The platform's folders for temporary files, absolute, as named and with links followed."""
    named = [
        tempfile.gettempdir(),
        *(os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")),
    ]
    if os.name == "posix":
        named += ["/tmp", "/var/tmp", "/dev/shm", "/run/user"]  # noqa: S108 - looked for, not used
    roots: dict[str, None] = {}
    for name in filter(None, named):
        path = Path(name).absolute()
        roots[str(path)] = None
        roots[str(path.resolve())] = None
    return tuple(roots)
