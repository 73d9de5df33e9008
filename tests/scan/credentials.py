"""Credentials, made at run time so that none stands in the repository."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"


class Maker:
    """Makes random credentials of every kind from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - the same every time

    def of(self, alphabet: str, length: int) -> str:
        """Random text that begins and ends with a letter or digit, and has a digit in it."""
        inner = "".join(self.random.choices(alphabet, k=length - 3))
        plain = [one for one in alphabet if one.isalnum()]
        first, last = self.random.choices(plain, k=2)
        return f"{first}{self.random.choice('2345679')}{inner}{last}"

    def jwt(self, **claims: str) -> str:
        """A signed token (RFC 7519)."""
        parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": self.of(ALNUM, 12), **claims})
        encoded = [_packed(json.dumps(part).encode()) for part in parts]
        return ".".join([*encoded, self.of(URLSAFE, 43)])

    def pem(self, label: str) -> str:
        """A private key in PEM (RFC 7468)."""
        lines = [self.of(BASE64, 64) for _ in range(8)]
        begin, end = (f"-----{word} {label}PRIVATE KEY-----" for word in ("BEGIN", "END"))
        return "\n".join([begin, *lines, self.of(BASE64, 22) + "==", end])

    def basic(self) -> str:
        """User and password as HTTP sends them (RFC 7617)."""
        return base64.b64encode(f"user{self.of(HEX, 5)}:{self.of(ALNUM, 16)}".encode()).decode()


def _packed(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _prefixed(prefix: str, alphabet: str, length: int) -> Callable[[Maker], str]:
    return lambda maker: prefix + maker.of(alphabet, length)


KINDS: dict[str, Callable[[Maker], str]] = {
    "aws": _prefixed("AK" + "IA", UPPER, 16),
    "aws-temporary": _prefixed("AS" + "IA", UPPER, 16),
    "gcp": _prefixed("AI" + "za", URLSAFE, 35),
    "gcp-oauth": _prefixed("GOC" + "SPX-", URLSAFE, 28),
    "gcp-access": _prefixed("ya" + "29.", URLSAFE, 120),
    "azure-client": lambda m: f"{m.of(ALNUM, 3)}8" + "Q" + "~" + m.of(ALNUM, 34),
    "openai-old": _prefixed("s" + "k-", ALNUM, 48),
    "openai-project": _prefixed("s" + "k-proj-", URLSAFE, 120),
    "openai-service": _prefixed("s" + "k-svcacct-", URLSAFE, 60),
    "anthropic": _prefixed("s" + "k-ant-api03-", URLSAFE, 93),
    "openrouter": _prefixed("s" + "k-or-v1-", HEX, 64),
    "github-classic": _prefixed("gh" + "p_", ALNUM, 36),
    "github-oauth": _prefixed("gh" + "o_", ALNUM, 36),
    "github-user": _prefixed("gh" + "u_", ALNUM, 36),
    "github-app": _prefixed("gh" + "s_", ALNUM, 36),
    "github-refresh": _prefixed("gh" + "r_", ALNUM, 36),
    "github-fine": lambda m: "github" + f"_pat_{m.of(ALNUM, 22)}_{m.of(ALNUM, 59)}",
    "gitlab": _prefixed("gl" + "pat-", URLSAFE, 20),
    "gitlab-runner": _prefixed("gl" + "rt-", URLSAFE, 20),
    "slack-bot": lambda m: (
        "xo" + f"xb-1{m.of(HEX[:10], 11)}-2{m.of(HEX[:10], 11)}-{m.of(ALNUM, 24)}"
    ),
    "slack-user": lambda m: (
        "xo" + f"xp-1{m.of(HEX[:10], 11)}-2{m.of(HEX[:10], 11)}-{m.of(HEX, 32)}"
    ),
    "slack-app": lambda m: "xa" + f"pp-1-A{m.of(UPPER, 10)}-1{m.of(HEX[:10], 11)}-{m.of(HEX, 64)}",
    "stripe": _prefixed("s" + "k_live_", ALNUM, 24),
    "stripe-test": _prefixed("s" + "k_test_", ALNUM, 24),
    "stripe-restricted": _prefixed("r" + "k_live_", ALNUM, 24),
    "webhook": _prefixed("wh" + "sec_", ALNUM, 32),
    "twilio": _prefixed("S" + "K", HEX, 32),
    "sendgrid": lambda m: "S" + f"G.{m.of(URLSAFE, 22)}.{m.of(URLSAFE, 43)}",
    "huggingface": _prefixed("h" + "f_", ALNUM, 34),
    "npm": _prefixed("np" + "m_", ALNUM, 36),
    "pypi": _prefixed("py" + "pi-AgEIcHlwaS5vcmc", URLSAFE, 150),
    "docker": _prefixed("dc" + "kr_pat_", URLSAFE, 27),
    "digitalocean": _prefixed("do" + "p_v1_", HEX, 64),
    "databricks": _prefixed("da" + "pi", HEX, 32),
    "shopify": _prefixed("sh" + "pat_", HEX, 32),
    "square": _prefixed("sq" + "0atp-", URLSAFE, 22),
    "telegram": lambda m: f"{m.random.randint(10**8, 10**9)}" + ":A" + f"A{m.of(URLSAFE, 33)}",
    "mailgun": _prefixed("ke" + "y-", HEX, 32),
    "mailchimp": lambda m: m.of(HEX, 32) + "-u" + "s21",
    "langsmith": lambda m: "ls" + f"v2_pt_{m.of(HEX, 32)}_{m.of(HEX, 10)}",
    "pinecone": lambda m: "pc" + f"sk_{m.of(ALNUM, 6)}_{m.of(ALNUM, 63)}",
    "groq": _prefixed("gs" + "k_", ALNUM, 52),
    "perplexity": _prefixed("pp" + "lx-", ALNUM, 48),
    "xai": _prefixed("xa" + "i-", ALNUM, 80),
    "replicate": _prefixed("r" + "8_", ALNUM, 37),
    "tavily": _prefixed("tv" + "ly-", ALNUM, 32),
    "nvidia": _prefixed("nv" + "api-", URLSAFE, 64),
    "vault": _prefixed("hv" + "s.", URLSAFE, 90),
    "terraform": lambda m: f"{m.of(ALNUM, 14)}" + ".atlas" + f"v1.{m.of(URLSAFE, 64)}",
    "doppler": _prefixed("dp" + ".pt.", ALNUM, 43),
    "1password": _prefixed("op" + "s_ey" + "J", BASE64, 250),
    "grafana": lambda m: "gl" + f"sa_{m.of(ALNUM, 32)}_{m.of(HEX, 8)}",
    "newrelic": _prefixed("NR" + "AK-", UPPER, 27),
    "sentry": _prefixed("sn" + "tryu_", HEX, 64),
    "linear": _prefixed("li" + "n_api_", ALNUM, 40),
    "notion": _prefixed("nt" + "n_", ALNUM, 46),
    "notion-old": _prefixed("sec" + "ret_", ALNUM, 43),
    "figma": _prefixed("fi" + "gd_", URLSAFE, 40),
    "airtable": lambda m: "pa" + f"t{m.of(ALNUM, 14)}.{m.of(HEX, 64)}",
    "postman": lambda m: "PM" + f"AK-{m.of(HEX, 24)}-{m.of(HEX, 34)}",
    "supabase": _prefixed("sb" + "p_", HEX, 40),
    "planetscale": _prefixed("ps" + "cale_tkn_", URLSAFE, 43),
    "fly": _prefixed("fo" + "1_", URLSAFE, 43),
    "pem": lambda m: m.pem(""),
    "pem-rsa": lambda m: m.pem("RSA "),
    "pem-openssh": lambda m: m.pem("OPENSSH "),
    "jwt": Maker.jwt,
}
"""Credentials that are secret as they stand, by kind."""

CARRIED: dict[str, Callable[[Maker], tuple[str, str]]] = {
    "url": lambda m: _carried(
        "postgresql://app:", m.of(ALNUM + "!%", 16), "@db.internal:5432/prod"
    ),
    "url-redis": lambda m: _carried("redis://:", m.of(ALNUM, 20), "@cache:6379/0"),
    "azure-storage": lambda m: _carried(
        "DefaultEndpointsProtocol=https;AccountName=store;Account" + "Key=",
        m.of(BASE64, 86) + "==",
        ";EndpointSuffix=core.windows.net",
    ),
    "azure-sas": lambda m: _carried(
        "https://store.blob.core.windows.net/c/b?sv=2024-11-04&si" + "g=", m.of(ALNUM, 43), "%3D"
    ),
    "slack-hook": lambda m: _carried(
        "https://hooks.slack.com/",
        f"services/T{m.of(UPPER, 9)}/B{m.of(UPPER, 9)}/{m.of(ALNUM, 24)}",
        "",
    ),
    "discord-hook": lambda m: _carried(
        "https://discord.com/api/webhooks/",
        f"{m.random.randint(10**17, 10**18)}/{m.of(URLSAFE, 68)}",
        "",
    ),
    "bearer": lambda m: _carried("Authorization: Bearer ", m.of(ALNUM, 40), ""),
    "basic": lambda m: _carried("Authorization: Basic ", m.basic(), ""),
}
"""Credentials in their wrapping, by kind: the whole, and the part that is secret."""


def _carried(before: str, secret: str, after: str) -> tuple[str, str]:
    return before + secret + after, secret


NAMED = [
    ("aws_secret_access_key", BASE64, 40),
    ("api_key", ALNUM, 32),
    ("apikey", HEX, 32),
    ("apiKey", ALNUM, 24),
    ("X-Api-Key", ALNUM, 32),
    ("COHERE_API_KEY", ALNUM, 40),
    ("azure_openai_api_key", HEX, 32),
    ("password", ALNUM + "!$", 12),
    ("passwd", ALNUM, 10),
    ("db-password", ALNUM, 14),
    ("secret", ALNUM, 24),
    ("client_secret", ALNUM, 30),
    ("clientSecret", URLSAFE, 40),
    ("access_token", URLSAFE, 50),
    ("refresh_token", URLSAFE, 50),
    ("bot_token", ALNUM, 40),
    ("sessionToken", BASE64, 60),
    ("private_key", BASE64, 44),
    ("signing-key", HEX, 64),
    ("webhook_secret", ALNUM, 24),
]
"""Names of keys that promise a credential with no format of its own."""
