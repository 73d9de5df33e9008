"""Values of all kinds that are no secrets, each under the name of a field or key."""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import Callable, Iterator
from typing import TypeAlias

from tests.scan.credentials import ALNUM, BASE64, HEX, LOWER, UPPER, URLSAFE, Maker

Pick: TypeAlias = Callable[[list[str]], str]
Named: TypeAlias = Iterator[tuple[str, object]]

_PROSE = (
    "the model should never see an api key or a password because tokens leak into logs and a secret"
    " that is pasted into a chat stays there; rotate the access token every month, use bearer"
    " authentication for the gateway, keep the private key in a vault and the basic setup small"
)
WORDS = _PROSE.split()


def harmless(seed: int) -> Named:
    """Yield values, each under a name, in which nothing is secret."""
    maker = Maker(seed)
    pick = maker.random.choice
    while True:
        for make in (_ids, _numbers, _texts, _references):
            yield from make(maker, pick)


def _ids(m: Maker, pick: Pick) -> Named:
    raw = m.random.randbytes
    yield "run_id", str(uuid.UUID(bytes=raw(16)))
    yield "id", "chatcmpl-" + m.of(ALNUM, 29)
    yield "tool_use_id", "toolu_" + m.of(ALNUM, 24)
    yield "tool_call_id", "call_" + m.of(ALNUM, 24)
    yield "message_id", "msg_" + m.of(ALNUM, 24)
    yield "id", f"run-{uuid.UUID(bytes=raw(16))}-0"
    yield "id", "resp_" + m.of(HEX, 48)
    yield "id", pick(["asst_", "thread_", "file-", "org-", "req_", "cus_", "pi_"]) + m.of(ALNUM, 24)
    yield "commit", hashlib.sha1(raw(8), usedforsecurity=False).hexdigest()
    yield "digest", hashlib.sha256(raw(8)).hexdigest()
    yield "etag", f'W/"{m.of(HEX, 32)}"'
    yield "cache_key", f"cache:key-{hashlib.md5(raw(8), usedforsecurity=False).hexdigest()[:24]}"
    yield "image_url", "data:image/png;base64," + base64.b64encode(raw(900)).decode()
    yield "thumbnail", base64.b64encode(raw(3000)).decode()
    yield "blob", raw(2000)
    yield "ulid", m.of(UPPER, 26)
    yield "next_page_token", m.of(URLSAFE, 80)
    yield "continuation_token", m.of(URLSAFE, 60)
    yield "idempotency_key", str(uuid.UUID(bytes=raw(16)))
    yield "partition_key", m.of(ALNUM, 20)
    yield "public_key", "ssh-ed25519 " + m.of(BASE64, 68)
    yield "thought_signature", base64.b64encode(raw(300)).decode()


def _numbers(m: Maker, pick: Pick) -> Named:
    yield "embedding", [m.random.random() for _ in range(24)]
    yield "embedding_text", json.dumps([round(m.random.uniform(-1, 1), 6) for _ in range(48)])
    yield "max_tokens", str(m.random.randint(1000, 99_999))
    yield "token_count", m.random.randint(1, 9999)
    yield "prompt_tokens", str(m.random.randint(10_000_000, 99_999_999))
    yield "created_at", f"2026-{m.random.randint(1, 12):02}-01T10:{m.random.randint(0, 59):02}:00Z"
    yield "phone", f"+44 20 {m.random.randint(1000, 9999)} {m.random.randint(1000, 9999)}"
    yield "token", {"token": pick([" the", "Hello", "[PAD]", "</s>", "ization"]), "logprob": -0.1}
    yield "tokens", [pick(WORDS) for _ in range(5)]
    yield "tokenizer", pick(["cl100k_base", "o200k_base", "gpt2-medium-2024"])
    yield "password_reset_required", pick(["true2026maybe", "not-before-2026-01-01"])
    yield "secret_santa", pick(["Alice2Bob4Carol", "gift-exchange-2026"])
    yield "token_type", pick(["bearer2", "Bearer"])


def _texts(m: Maker, pick: Pick) -> Named:
    prose = " ".join(pick(WORDS) for _ in range(120))
    yield "content", prose
    yield (
        "content",
        f"Set OPENAI_API_KEY in your shell, then call {pick(WORDS)}. It looks like s" + "k-...",
    )
    yield "content", f"A PEM file starts with -----BEGIN PRIVATE KEY----- and then {prose}"
    yield (
        "code",
        f"api_key = os.environ['OPENAI_API_KEY']  # {pick(WORDS)}\nclient = Client(api_key)",
    )
    yield (
        "code",
        "def login(user, password=None, token: str = ''):\n    return get_token(user, password)",
    )
    yield "code", 'headers = {"Authorization": f"Bearer {settings.access_token}"}'
    yield "content", "Keys look like AK" + "IA" + m.of(UPPER, 9) + "EXAMPLE in every guide."
    yield "content", "Export it as gh" + "p_" + "x" * 36 + " and go on."
    yield "code", f"private_key = Ed{m.of(HEX[:10], 5)}PrivateKey.generate()"
    yield "code", f"secret: app-credentials-v{m.random.randint(1, 9)}\ntoken: service-account-1\n"
    yield "code", ".s" + "k-cube-grid-container-wrapper .item { margin: 0 }"
    yield (
        "url",
        f"https://www.example.org:8443/a/{m.of(LOWER, 12)}?page=2&q={m.of(LOWER, 6)}",
    )
    yield "url", f"https://user@git.example.org/{m.of(LOWER, 8)}.git"
    yield "email", f"{m.of(LOWER, 8)}@example.org"
    yield "path", f"/srv/data/{m.of(LOWER, 12)}/report_{m.of(HEX, 8)}.pdf"
    yield (
        "traceback",
        f'File "/app/src/keys/token_store.py", line {m.random.randint(1, 999)}, in get_secret',
    )
    yield "markdown", f"| key | token |\n|---|---|\n| {pick(WORDS)} | {pick(WORDS)} |"
    yield "schema", {"password": {"type": "string", "description": "The password of the user."}}
    yield (
        "arguments",
        json.dumps({"query": prose[:80], "max_tokens": 512, "page_token": m.of(ALNUM, 30)}),
    )
    yield "error", {"api_key": "missing", "password": "required", "token": "expired"}


def _references(m: Maker, pick: Pick) -> Named:
    name = pick(["OPENAI", "ANTHROPIC", "STRIPE", "DB"])
    yield "api_key", f"env:{name}_API_KEY_{m.random.randint(1, 99)}"
    yield "api_key", f"{name}_API_KEY"
    yield "api_key", f"state.accounts[{m.random.randint(1, 9)}].api_key"
    yield "api_key", f"{m.random.randint(1, 99):032}.{m.random.random():016}"
    yield "password", f"vault://kv/{name.lower()}/password2"
    yield "password", f"${{{name}_PASSWORD}}"
    yield "client_secret", "{{ secrets.client_secret_2 }}"
    yield "client_secret", f"keyring:{name.lower()}/client-1"
    yield "access_token", "<your access token 1>"
    yield "access_token", "********************"
    yield "secret", f"file:/run/secrets/{name.lower()}2"
    yield "private_key", f"/etc/ssl/private/{name.lower()}-2026.pem"
    yield "api_key", "s" + "k-..."
    yield "api_key", "s" + "k-" + "x" * 32
    yield "password", "REDACTED"
    yield "authorization", "Bearer ${TOKEN}"
    yield "dsn", "postgresql://user:***@db/prod"
    yield "dsn", "postgresql://user:${DB_PASSWORD}@db/prod"
