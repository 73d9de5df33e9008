"""Secrets that stand below the name of a credential: ``{"api_key": {"prod": "…"}}``.

What such a mapping holds is partly about the secret (when it expires, who issued it), so that a
value has to look like one, unless its own name says no more than that it is the value.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from keepset.scan.names import LONGEST_NAME, QUALIFIERS, Promise, credential, words_of
from keepset.scan.values import looks_random, plausible

_FILLERS = "v val data main primary secondary test"
_SAY_NOTHING: Final = QUALIFIERS | frozenset(_FILLERS.split())
_FACTS = (
    "account address alg algorithm at audience aud body checksum content count counts created"
    " date day days description digest documents email endpoint engine environment error"
    " etag expiration expire expires expiry file fingerprint format hash hint host hostname id"
    " ids iss issued issuer iv kind label length limit links message messages meta metadata"
    " method model name names nonce note owner path policy prefix project provider reason ref"
    " reference region role salt scope scopes size source state status sub subject suffix"
    " tenant time timestamp title type types updated uri uris url urls usage user username"
    " uuid version"
)
_ABOUT: Final = frozenset(_FACTS.split())
_MODEL_TOKEN: Final = frozenset({"text", "string", "str", "word"})
"""Names of the text of a token of a language model."""
_NO_SECRET: Final = re.compile(
    r"\d{4}-\d\d(?:-\d\d)?(?:[T ].*)?|\d{8}T\d{4,6}Z?|[^@\s]+@[\w-]+(?:\.[\w-]+)+|\w+://.*"
    r"|v?\d+(?:\.\d+)+\S{0,16}|\d[\d.,:]*[a-z]{1,8}|[A-Za-z]+[-_]?\d{1,4}|[a-z_]+(?:[.-][a-z_\d]+)+",
    re.DOTALL | re.ASCII,
)
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


@lru_cache(maxsize=4096)
def name_above(name: str, above: str) -> str:
    """Give the name of the credential that what lies in a container belongs to; empty for none.

    Args:
        name: The container's own name.
        above: The same for the container around it.
    """
    if credential(name):
        return name
    return "" if _is_about(name) else above


def promised_above(above: str, name: str, text: str) -> Promise:
    """Say what a text is, which lies in a container that belongs to a credential.

    Args:
        above: The credential's name, as `name_above` gives it.
        name: The text's own name, which is not that of a credential.
        text: The text.

    Returns:
        What the credential's name promises where the text keeps to it, else `Promise.NOTHING`.
    """
    promise, words = credential(above), words_of(name[-LONGEST_NAME:])
    if _is_about(name) or not plausible(promise, text):
        return Promise.NOTHING
    if promise is Promise.WEAK and _MODEL_TOKEN.issuperset(words):
        return Promise.NOTHING
    if _SAY_NOTHING.issuperset(words):
        return promise
    return promise if _looks_secret(promise, text) else Promise.NOTHING


def _is_about(name: str) -> bool:
    words = words_of(name[-LONGEST_NAME:])
    return bool(words) and words[-1] in _ABOUT


def _looks_secret(promise: Promise, text: str) -> bool:
    if promise is Promise.CONNECTION:
        return True
    value = text.strip()
    if _NO_SECRET.fullmatch(value) or (promise is Promise.WEAK and _UUID.fullmatch(value)):
        return False
    if promise is Promise.PASSWORD:
        return any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return looks_random(value)
