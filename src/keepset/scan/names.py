"""Names of fields and keys that say credential.

A name is cut into words at case changes and at every character that is not a letter or digit,
so that ``api_key``, ``apiKey``, ``X-Api-Key`` and ``OPENAI_API_KEY`` are one case. What counts is
the end of the name: ``db_password`` is a credential, ``password_reset_required`` is not.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import Final


class Promise(IntEnum):
    """What a name promises of the value under it.

    `NOTHING`; `WEAK` (``token``, which models use for other things too); `STRONG` (``api_key``);
    `PASSWORD`; `HEADER` (``authorization``); `CONNECTION` (``connection_string``).
    """

    NOTHING = 0
    WEAK = 1
    STRONG = 2
    PASSWORD = 3
    HEADER = 4
    CONNECTION = 5


def _set(words: str, separator: str | None = None) -> frozenset[str]:
    return frozenset(words.split(separator))


LONGEST_NAME: Final = 96
"""Characters; nothing that is longer is the name of anything."""
_WORDS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")
QUALIFIERS: Final = _set(
    "value values str string text plain raw prod production dev staging live default"
)
"""Words behind the name of a credential that change nothing."""
_PASSWORDS: Final = _set(
    "password passwords passwd passphrase passcode pwd userpassword dbpassword"
)
_STRONG: Final = _set(
    "apikey apikeys secretkey privatekey accesskey clientsecret accesstoken refreshtoken authtoken"
    " apitoken bearertoken"
)
_STRONG_PAIRS: Final = _set(
    "api key,api keys,secret key,secret keys,private key,private keys,access key,account key,"
    "auth key,signing key,signing secret,encryption key,master key,subscription key,service key,"
    "deploy key,client secret,app secret,consumer secret,webhook secret,shared secret,access token,"
    "access tokens,refresh token,refresh tokens,auth token,api token,api tokens,bearer token,"
    "bot token,id token,session token,service token,personal token,oauth token,security token,"
    "secret token,deploy token,install token,sas token,jwt token,private token",
    ",",
)
_WEAK: Final = _set("secret secrets token credential credentials jwt")
_NOT_A_TOKEN_OF: Final = _set(
    "next page continuation cursor max min total prompt completion input output start end bos eos"
    " pad padding unk unknown sep cls mask stop first last new special sync pagination skip resume"
    " cancel cancellation sentinel image text line byte delta begin per cached reasoning audio"
    " previous prev current think thinking tool role user assistant system num n sequence top"
    " separator marker scroll position offset word sub this each paging list"
)
_QUESTIONS: Final = _set("has is needs requires require forgot reset")
_CONNECTIONS: Final = _set(
    "connection string,connection strings,conn string,conn str,connection uri,connectionstring",
    ",",
)


@lru_cache(maxsize=4096)
def credential(name: str) -> Promise:
    """Say what a name promises.

    Args:
        name: A mapping key, attribute or field name in any writing.
    """
    if len(name) > LONGEST_NAME:
        return Promise.NOTHING
    words = words_of(name)
    if words and words[-1] in {"string", "str"} and " ".join(words[-2:]) in _CONNECTIONS:
        return Promise.CONNECTION
    while len(words) > 1 and words[-1] in QUALIFIERS:
        words.pop()
    asks = not words or words[0] in _QUESTIONS
    return Promise.NOTHING if asks else _promise(words)


def words_of(name: str) -> list[str]:
    """Cut a name into its words, in lower case and without numbers at their ends."""
    words = [word.lower().rstrip("0123456789") for word in _WORDS.split(name)]
    return [word for word in words if word]


def _promise(words: list[str]) -> Promise:
    last, pair = words[-1], " ".join(words[-2:])
    if last in _PASSWORDS:
        return Promise.PASSWORD
    if last == "authorization":
        return Promise.HEADER
    if pair in _CONNECTIONS or last in _CONNECTIONS:
        return Promise.CONNECTION
    if pair in _STRONG_PAIRS or last in _STRONG:
        return Promise.STRONG
    if last in _WEAK and not (last == "token" and _NOT_A_TOKEN_OF.intersection(words[:-1])):
        return Promise.WEAK
    return Promise.NOTHING
