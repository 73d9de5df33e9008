"""What holds for every test: hypothesis profiles, a clean environment, and no network."""

from __future__ import annotations

import os
import signal
import sys
from ipaddress import ip_address

from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile(
    "nightly",
    deadline=None,
    max_examples=100_000,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
# The profile is handed on to worker processes, and CI is not: where it is set, pytest prints every
# line of a difference, however long.
PROFILE = os.environ.setdefault("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default")
os.environ.pop("CI", None)
settings.load_profile(PROFILE)

# An operator's switches, set in the shell that runs the tests, must not decide what they find.
for _name in [name for name in os.environ if name.startswith("KEEPSET_")]:
    del os.environ[_name]

# Nor does it matter which signals that shell ignores, as it does with a job in its background: what
# is ignored here would be ignored by all processes that tests start, which are to be ended by it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
for _number in (signal.SIGHUP, signal.SIGTERM):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)


def _stay_at_home(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse to connect to anything but this machine."""
    if event != "socket.connect":
        return
    address = arguments[1]
    if isinstance(address, tuple) and not _is_here(str(address[0])):
        msg = f"a test may not reach {address[0]}"
        raise ConnectionRefusedError(msg)


def _is_here(host: str) -> bool:
    try:
        return ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host == "localhost"


sys.addaudithook(_stay_at_home)
