"""Whether a text can be a credential at all: references, placeholders and words are none."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from keepset.scan.names import Promise, credential

_LONGEST: Final = 16_384
_FEWEST_SYMBOLS: Final = 5
_FAR_ENOUGH: Final = 128
_SHORTEST_RUN: Final = 8
_CASE_CHANGES: Final = 2
_LONGER_THAN_WORDS: Final = 16
_LONGER_THAN_NAMES: Final = 24

_SCHEMES: Final = (
    "env|environ|vault|file|keyring|op|ssm|sops|secret|secrets|secretref|doppler|bws|infisical|k8s"
    r"|kms|arn|ref|ref\+\w+|aws-?sm|gcp-?sm|awssecretsmanager|gcpsecretmanager|azurekeyvault"
    "|keychain|pass|credstash|conjur"
)
_EXPRESSIONS: Final = (
    r"os\.|process\.env|import\.meta|settings\.|config\.|self\.|cls\.|secrets\.|env\.|environ"
    r"|getenv|st\.secrets|var\.|local\.|data\.|values\.|vars\."
)
_FOLDERS: Final = "etc|var|run|home|usr|opt|tmp|mnt|root|srv|app|data|secrets|private|Users"
_REFERENCE: Final = re.compile(
    rf"(?:{_SCHEMES})(?::|://).*"
    r"|projects/[\w-]+/secrets/.*|@Microsoft\.KeyVault\(.*|!\w+ .*"
    r"|\$[A-Z_][A-Z0-9_]*|%[A-Z_][A-Z0-9_]*%|\$?\{.*\}|\$\(.*\)|<.*>|\[.*\]"
    rf"|(?:{_EXPRESSIONS}).*"
    r"|(?:[A-Z][A-Z0-9]*_){1,8}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PWD|CREDENTIALS?)(?:_\d+)?"
    rf"|(?:~|\.{{1,2}})?/(?:{_FOLDERS})/[\w.@/ -]*|[A-Za-z]:\\[\w.@\\ -]+",
    re.DOTALL | re.ASCII,
)
_PATH: Final = re.compile(r"[A-Za-z_]\w*(?:\[\w+\]|\.\w+)*\.[A-Za-z_]\w*(?:\[\w+\])*", re.ASCII)
_PLACEHOLDER: Final = re.compile(
    r"\*{3}|\.{3}|\u2026|\u2022{2}|x{4}|X{4}|_{4}|^%s$"
    r"|(?i:your|example|placeholder|change_?-?me|redacted|withheld|masked|hidden|dummy"
    r"|insert[-_ ]|replace[-_ ]|todo|fixme|not[-_]?set|removed)"
)
_WORDS = (
    "none null nil true false string str bytes secretstr secretbytes optional[str] required"
    " optional missing invalid incorrect expired unset empty unknown default disabled enabled"
    " unchanged password passwd passphrase pass pwd secret token apikey api_key api-key undefined"
    " n/a number integer boolean object varchar(255) text char varchar nullable forgotten"
    " configured anonymous unauthorized bearer basic sensitive encrypted stored present absent"
    " provided port"
)
_STOP_WORDS: Final = frozenset(_WORDS.split())
_SCHEMED: Final = re.compile(
    r"(?i:bearer|basic|token|bot|apikey|api-key|digest|aws4-hmac-sha256|sso-key|key)\s+(\S.*)",
    re.DOTALL,
)
_CONNECTS: Final = ("password=", "pwd=", "accountkey=", "sharedaccesskey=", "token=")


def reference(text: str) -> bool:
    """Tell whether a text only refers to a secret: ``env:NAME``, ``${NAME}``, ``vault://…``."""
    return _REFERENCE.fullmatch(text) is not None


def _path(text: str) -> bool:
    """Tell whether a text is the path of a field that would hold a secret: ``config.api_key``."""
    is_path = bool(credential(text)) and _PATH.fullmatch(text) is not None
    return is_path and not looks_random(text)


def placeholder(text: str) -> bool:
    """Tell whether a text stands in for a secret: masked, an example, or next to no variety."""
    text = text[:_FAR_ENOUGH]
    if _PLACEHOLDER.search(text) is not None:
        return True
    return len(text) > _FEWEST_SYMBOLS and len(set(text)) < _FEWEST_SYMBOLS


def stop_word(text: str) -> bool:
    """Tell whether a text is a word that stands where a secret would, such as ``required``."""
    return text.lower() in _STOP_WORDS


def looks_random(text: str) -> bool:
    """Tell whether a text has a run of 8 letters and digits mixed, as words do not."""
    runs = re.split(r"[^A-Za-z0-9]", text[:_FAR_ENOUGH])
    return any(len(run) >= _SHORTEST_RUN and _mixed(run) for run in runs)


def _mixed(text: str) -> bool:
    digits = sum(map(str.isdigit, text))
    if digits:
        return digits < len(text)
    # CamelCase changes from small to capital as well, but not that often.
    changes = sum(a.islower() and b.isupper() for a, b in pairwise(text[1:]))
    return changes > _CASE_CHANGES


def plausible(promise: Promise, text: str) -> bool:
    """Tell whether a text under the name of a credential can be one.

    Args:
        promise: What `keepset.scan.names.credential` said of the name.
        text: The value.

    Returns:
        False for what is empty, too short, a word, prose, a reference or a placeholder.
    """
    value = text.strip()
    if promise is Promise.CONNECTION:
        return any(mark in value.lower() for mark in _CONNECTS) and not placeholder(value)
    if promise is Promise.HEADER:
        schemed = _SCHEMED.fullmatch(value)
        value = schemed.group(1) if schemed else value
    shortest = 6 if promise is Promise.PASSWORD else 8
    if not shortest <= len(value) <= _LONGEST or stop_word(value):
        return False
    if value.split() != [value] or reference(value) or placeholder(value):
        return False
    return promise is Promise.PASSWORD or _enough(promise, value)


def _enough(promise: Promise, value: str) -> bool:
    if value.replace(".", "").isdigit() or _path(value):  # also a version of a LangGraph channel
        return False
    if any(map(str.isdigit, value)) or _mixed(value):
        return True
    if promise is Promise.WEAK:
        return len(value) >= _LONGER_THAN_NAMES and value.isalnum()
    return len(value) >= _LONGER_THAN_WORDS
