"""Names that promise a credential, and values that cannot be one."""

from __future__ import annotations

import pytest

from keepset.scan.names import Promise, credential
from keepset.scan.values import plausible

CREDENTIALS = (
    "api_key apikey apiKey API_KEY x-api-key OPENAI_API_KEY openaiApiKey api_key_2 api_key_prod"
    " password db_password passwd passphrase secret client_secret clientSecret webhookSecret"
    " access_token accessToken refresh-token bot_token token auth_token authorization"
    " Proxy-Authorization private_key connection_string connectionString signingKey"
    " Ocp-Apim-Subscription-Key credentials aws_secret_access_key api_keys"
)
OTHERS = (
    "next_page_token max_tokens token_count prompt_tokens page_token continuation_token tokenizer"
    " password_reset_required secret_santa nextPageToken completion_tokens total_tokens eos_token"
    " token_type tokens key keys public_key primary_key partition_key idempotency_key cache_key"
    " foreign_key keyboard monkey secretary author authority password_hint secret_name cursor_token"
    " api_key_id access_key_id has_password input_tokens sync_token keyword question"
)


@pytest.mark.parametrize("name", CREDENTIALS.split())
def test_a_name_of_a_credential_is_recognised_in_any_writing(name: str) -> None:
    assert credential(name)


@pytest.mark.parametrize("name", OTHERS.split())
def test_a_name_that_only_sounds_like_a_credential_is_not_taken_for_one(name: str) -> None:
    assert not credential(name)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "short",
        "required",
        "None",
        "This field is required.",
        "env:OPENAI_API_KEY",
        "vault://kv/data#key2",
        "${API_KEY_2}",
        "{{ api_key_2 }}",
        "<your-api-key-1>",
        "***********",
        "xxxxxxxxxxxx",
        "REDACTED",
        "os.environ['API_KEY_2']",
        "settings.API_KEY_2",
        "your-key-123",
        "[withheld: secret.name]",
        "OPENAI_API_KEY",
        "/run/secrets/api-key-2",
        "arn:aws:secret:a1",
        "file:/etc/keys/k1",
        "keyring:app/key1",
        "%API_KEY%",
        "$API_KEY",
        "changeme123",
        "op://a/b2",
        "...",
        "12345678",
        "SecretStr",
        "a1b2c3d",
        "sk-...",
    ],
)
def test_what_is_no_credential_is_not_taken_for_one_under_any_name(value: str) -> None:
    assert not plausible(Promise.STRONG, value)
    assert not plausible(Promise.WEAK, value)


def test_a_password_may_be_a_word_but_not_one_that_speaks_of_it() -> None:
    assert plausible(Promise.PASSWORD, "swordfish")
    assert plausible(Promise.PASSWORD, "12345678")
    assert not plausible(Promise.PASSWORD, "incorrect")
    assert not plausible(Promise.PASSWORD, "must be longer")


def test_an_authorization_header_is_judged_by_what_stands_behind_its_scheme() -> None:
    assert plausible(Promise.HEADER, "Bearer a1b2c3d4e5")
    assert not plausible(Promise.HEADER, "Bearer ${TOKEN}")
    assert not plausible(Promise.HEADER, "Bearer")


def test_a_connection_string_is_a_credential_where_it_has_a_password() -> None:
    server = "Server=db;Database=app;User Id=sa;"
    assert plausible(Promise.CONNECTION, f"{server}Password=Str0ng!pass")
    assert not plausible(Promise.CONNECTION, f"{server}Trusted_Connection=True")
