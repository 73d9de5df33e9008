"""Credentials that begin with a fixed prefix, as their providers publish it.

Every pattern is tried only where its prefix stands at the start of a word, and every repetition in
it is bounded, so that the time a text takes grows with its length and with nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from keepset.scan.values import looks_random

Check: TypeAlias = Callable[[str], bool]

_END: Final = r"(?![A-Za-z0-9])"
_TAIL: Final = re.compile(r"[A-Za-z0-9_\-]*+")
_BASE64_TAIL: Final = re.compile(r"[A-Za-z0-9+/_%\-]*+=*+")


@dataclass(frozen=True, slots=True)
class Prefixed:
    """One format.

    Attributes:
        id: Provider and kind, such as ``github.token``; the `detail` of a finding.
        prefixes: What it begins with.
        pattern: What follows the prefix.
        tail: What is taken as well, once the pattern has matched; None for a fixed length.
        check: What the part after the prefix has to pass beside the pattern, or None.
    """

    id: str
    prefixes: tuple[str, ...]
    pattern: re.Pattern[str]
    tail: re.Pattern[str] | None = None
    check: Check | None = None


def _fixed(name: str, prefixes: str, body: str, check: Check | None = None) -> Prefixed:
    return Prefixed(name, tuple(prefixes.split()), re.compile(body + _END, re.ASCII), None, check)


def _open(name: str, prefixes: str, body: str, check: Check | None = None) -> Prefixed:
    tail = _BASE64_TAIL if "/" in body else _TAIL
    return Prefixed(name, tuple(prefixes.split()), re.compile(body, re.ASCII), tail, check)


_CLOUD: Final = (
    _fixed("aws.access-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}"),
    _open(
        "aws.session-token", "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz", r"[A-Za-z0-9/+=%]{80,256}"
    ),
    _open("aws.bedrock-key", "ABSK", r"[A-Za-z0-9+/]{100,300}={0,2}"),
    _open("aws.bedrock-key", "bedrock-api-key-", r"[A-Za-z0-9+/=]{20,256}"),
    _fixed("gcp.api-key", "AIza", r"[\w-]{35}"),
    _open("gcp.oauth-secret", "GOCSPX-", r"[\w-]{24,64}"),
    _open("gcp.access-token", "ya29.", r"[\w-]{20,256}"),
    _open("gcp.refresh-token", "1//0", r"[\w-]{40,256}", looks_random),
    _fixed("alibaba.access-key", "LTAI", r"[A-Za-z0-9]{12,24}", looks_random),
    _fixed("tencent.secret-id", "AKID", r"[A-Za-z0-9]{32}"),
    _fixed("yandex.api-key", "AQVN", r"[\w-]{35,38}", looks_random),
    _fixed("digitalocean.token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}"),
    _fixed("databricks.token", "dapi", r"[0-9a-f]{32}(?:-\d)?"),
    _open("heroku.api-key", "HRKU-", r"[\w-]{30,128}"),
    _open("fly.token", "fo1_", r"[\w-]{40,128}"),
    _open("fly.token", "fm1_ fm2_ fm1a_ fm1r_", r"[A-Za-z0-9+/=_-]{60,256}"),
    _open("netlify.token", "nfp_", r"[A-Za-z0-9]{36,64}"),
    _open("render.api-key", "rnd_", r"[A-Za-z0-9]{28,64}"),
    _open("neon.api-key", "napi_", r"[a-z0-9]{40,128}"),
    _open("planetscale.token", "pscale_tkn_ pscale_oauth_ pscale_pw_", r"[\w.=-]{32,64}"),
    _fixed("supabase.token", "sbp_", r"[0-9a-f]{40}"),
    _open("supabase.secret-key", "sb_secret_", r"[\w-]{20,64}"),
    _open("tailscale.key", "tskey-", r"[a-z]{3,8}-[\w-]{16,128}"),
    _fixed("age.secret-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{58}"),
)
_MODELS: Final = (
    _open("anthropic.api-key", "sk-ant-", r"[\w-]{20,256}"),
    _open("openai.api-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"[\w-]{20,256}"),
    _open("openrouter.api-key", "sk-or-", r"[\w-]{20,128}", looks_random),
    _open("langfuse.secret-key", "sk-lf-", r"[\w-]{20,64}", looks_random),
    _open("openai.api-key", "sk-", r"[\w-]{20,256}", looks_random),
    _open("huggingface.token", "hf_ api_org_", r"[A-Za-z0-9]{30,64}"),
    _open("groq.api-key", "gsk_", r"[A-Za-z0-9]{40,64}"),
    _open("perplexity.api-key", "pplx-", r"[A-Za-z0-9]{32,64}"),
    _open("xai.api-key", "xai-", r"[A-Za-z0-9]{48,128}"),
    _open("replicate.token", "r8_", r"[A-Za-z0-9]{32,64}"),
    _open("pinecone.api-key", "pcsk_", r"\w{20,128}"),
    _open("langsmith.api-key", "lsv2_pt_ lsv2_sk_", r"[0-9a-f]{32}_[0-9a-f]{8,16}"),
    _fixed("langsmith.api-key", "ls__", r"[0-9a-f]{32}"),
    _open("tavily.api-key", "tvly-", r"[\w-]{20,64}", looks_random),
    _fixed("firecrawl.api-key", "fc-", r"[0-9a-f]{32}"),
    _fixed("e2b.api-key", "e2b_", r"[0-9a-f]{40}"),
    _open("cerebras.api-key", "csk-", r"[a-z0-9]{40,64}"),
    _open("nvidia.api-key", "nvapi-", r"[\w-]{40,128}"),
    _open("jina.api-key", "jina_", r"\w{40,128}", looks_random),
    _open("voyage.api-key", "pa-", r"[\w-]{40,64}", looks_random),
    _open("fireworks.api-key", "fw_", r"[A-Za-z0-9]{20,64}", looks_random),
    _open("llamacloud.api-key", "llx-", r"[A-Za-z0-9]{40,64}"),
    _open("runpod.api-key", "rpa_", r"[A-Za-z0-9]{40,64}"),
    _fixed("elevenlabs.api-key", "sk_", r"[0-9a-f]{48}"),
)
_CODE: Final = (
    _open("github.token", "ghp_ gho_ ghu_ ghs_ ghr_", r"\w{36,255}"),
    _open("github.fine-grained-token", "github_pat_", r"\w{22,255}"),
    _open(
        "gitlab.token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct-",
        r"[\w-]{20,256}",
    ),
    _open("npm.token", "npm_", r"[A-Za-z0-9]{36,64}"),
    _open("pypi.token", "pypi-", r"[\w-]{50,256}"),
    _open("rubygems.token", "rubygems_", r"[0-9a-f]{48}"),
    _open("docker.token", "dckr_pat_ dckr_oat_", r"[\w-]{20,64}"),
    _open("atlassian.token", "ATATT3 ATCTT3", r"[\w=-]{60,256}"),
    _fixed("bitbucket.app-password", "ATBB", r"[A-Za-z0-9]{32}"),
    _open("artifactory.api-key", "AKCp", r"[A-Za-z0-9]{60,80}"),
    _open("buildkite.token", "bkua_", r"[0-9a-f]{40}"),
    _open("sourcegraph.token", "sgp_", r"(?:[0-9a-z]{5,16}_)?[0-9a-f]{40}"),
    _open("vault.token", "hvs. hvb. hvr.", r"[\w-]{20,256}"),
    _open(
        "doppler.token",
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        r"(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    _open("1password.service-account", "ops_eyJ", r"[\w+/=-]{60,256}"),
    _fixed("1password.secret-key", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{6,11}(?:-[A-Z0-9]{5}){3,4}"),
    _open("pulumi.token", "pul-", r"[0-9a-f]{40}"),
    _open("prefect.api-key", "pnu_ pnb_", r"[A-Za-z0-9]{36}"),
    _open("postman.api-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    _open("circleci.token", "CCIPAT_ CCIPRJ_", r"[\w-]{20,128}"),
)
_SERVICES: Final = (
    _open(
        "slack.token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs-",
        r"[\w%/+-]{10,256}",
        looks_random,
    ),
    _open("slack.token", "xoxe.xoxb- xoxe.xoxp-", r"[\w-]{20,256}"),
    _open("slack.app-token", "xapp-", r"\d-[\w-]{20,256}"),
    _open(
        "stripe.secret-key",
        "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_",
        r"[A-Za-z0-9]{10,256}",
    ),
    _open("webhook.secret", "whsec_", r"[A-Za-z0-9+/=]{20,256}"),
    _fixed("twilio.api-key", "SK", r"[0-9a-f]{32}"),
    _open("sendgrid.api-key", "SG.", r"[\w-]{16,32}\.[\w-]{16,64}"),
    _fixed("shopify.token", "shpat_ shpca_ shppa_ shpss_ shptka_", r"[0-9a-fA-F]{32,40}"),
    _open("square.token", "sq0atp- sq0csp- sq0idp-", r"[\w-]{22,64}"),
    _open("square.token", "EAAA", r"[\w-]{56,64}(?![\w+/=-])", looks_random),
    _fixed("mailgun.api-key", "key-", r"(?<![\w-]key-)[0-9a-f]{32}"),
    _fixed("brevo.api-key", "xkeysib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _open("resend.api-key", "re_", r"[A-Za-z0-9]{8,12}_[A-Za-z0-9]{16,40}"),
    _open("grafana.token", "glsa_", r"[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    _open("grafana.token", "glc_", r"[A-Za-z0-9+/=]{32,256}"),
    _open("newrelic.api-key", "NRAK- NRII- NRJS- NRIQ- NRRA-", r"[A-Za-z0-9_-]{19,64}"),
    _open("sentry.token", "sntryu_", r"[0-9a-f]{64}"),
    _open("sentry.token", "sntrys_", r"[A-Za-z0-9+/=_-]{40,256}"),
    _open("linear.api-key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,64}"),
    _open("notion.token", "ntn_", r"[A-Za-z0-9]{40,64}"),
    _fixed("notion.token", "secret_", r"[A-Za-z0-9]{43}"),
    _open("figma.token", "figd_ figo_ figu_ figr_", r"[\w-]{36,64}"),
    _fixed("airtable.token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _fixed("dynatrace.token", "dt0c01. dt0s01. dt0s16.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _fixed("easypost.api-key", "EZAK EZTK", r"[A-Za-z0-9]{54}"),
    _open("flutterwave.secret-key", "FLWSECK- FLWSECK_TEST-", r"[0-9a-zA-Z]{12,40}(?:-X)?"),
    _open("shippo.token", "shippo_live_ shippo_test_", r"[0-9a-f]{40}"),
    _open("readme.api-key", "rdme_", r"[a-z0-9]{60,80}"),
    _open("typeform.token", "tfp_", r"[\w.-]{40,80}"),
    _open("contentful.token", "CFPAT-", r"[\w-]{40,64}"),
    _fixed(
        "plaid.token",
        "access-production- access-sandbox- access-development-",
        r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    ),
    _open("duffel.token", "duffel_live_ duffel_test_", r"[\w-]{40,64}"),
)

PREFIXED: Final = _CLOUD + _MODELS + _CODE + _SERVICES
"""All formats with a prefix. Of two whose prefixes both match, the longer prefix is tried first."""
