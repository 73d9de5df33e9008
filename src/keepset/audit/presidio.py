"""Presidio's pattern recognisers without a model and without a network.

Presidio wants an engine for language, which gives the words around a find; ours splits at spaces
and punctuation, so that no model is loaded or fetched. Its e-mail recogniser checks names of
domains by a list that it would fetch: here the copy that comes with the package is used.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

from keepset.errors import UsageError

_LANGUAGE: Final = "en"
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_FAINT: Final = 0.05
PHONE_WORDS: Final = (
    *("phone", "phones", "telephone", "tel", "cell", "cellphone", "mobile", "fax", "whatsapp"),
    *("telefon", "handy", "sms"),
)
PASSPORT_WORDS: Final = ("passport", "passports")


class Hit(NamedTuple):
    """What a recogniser has found in a text.

    Attributes:
        entity: Presidio's name of the kind.
        start: Position of its first character.
        end: Position after its last.
        score: How sure the recogniser is, from 0 to 1, with the words before it.
    """

    entity: str
    start: int
    end: int
    score: float


class Presidio:
    """Analyses texts; about 0.8 seconds and 60 MB to load."""

    def __init__(self) -> None:
        """Load it.

        Raises:
            UsageError: ``audit.no-pii``: it is not installed.
        """
        logging.getLogger("presidio-analyzer").setLevel(logging.CRITICAL)  # it would quote texts
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what it imports, which nobody here can mend
                self._engine = _engine()
        except ImportError as error:
            raise UsageError(
                "--pii needs presidio-analyzer, which is not installed",
                code="audit.no-pii",
                hint='pip install "keepset[audit]"',
            ) from error

    def analyse(self, text: str, entities: Sequence[str], around: Sequence[str]) -> list[Hit]:
        """Analyse a text.

        Args:
            text: The text.
            entities: The kinds to look for, by Presidio's names.
            around: Words that speak for a kind as much as those before it in the text.
        """
        found = self._engine.analyze(
            text, _LANGUAGE, entities=list(entities), context=list(around), score_threshold=_FAINT
        )
        return [Hit(one.entity_type, one.start, one.end, one.score) for one in found]


def _engine() -> Any:
    analyzer = import_module("presidio_analyzer")
    known = import_module("presidio_analyzer.predefined_recognizers")
    enhancers = import_module("presidio_analyzer.context_aware_enhancers")
    suffixes = import_module("tldextract").TLDExtract(suffix_list_urls=(), cache_dir=None)
    mail = known.EmailRecognizer()
    mail.validate_result = lambda text: bool(suffixes(text.rpartition("@")[2]).suffix)
    recognisers = [
        mail,
        known.PhoneRecognizer(context=list(PHONE_WORDS)),
        known.UsPassportRecognizer(context=list(PASSPORT_WORDS)),
        *(
            recogniser()
            for recogniser in (
                known.CreditCardRecognizer,
                known.IbanRecognizer,
                known.IpRecognizer,
                known.UsSsnRecognizer,
                known.CryptoRecognizer,
            )
        ),
    ]
    return analyzer.AnalyzerEngine(
        registry=analyzer.RecognizerRegistry(
            recognizers=recognisers, supported_languages=[_LANGUAGE]
        ),
        nlp_engine=_Words(import_module("presidio_analyzer.nlp_engine").NlpArtifacts),
        supported_languages=[_LANGUAGE],
        context_aware_enhancer=enhancers.LemmaContextAwareEnhancer(
            context_matching_mode="whole_word"
        ),
    )


class _Words:
    """An engine for language that only splits texts into words; it needs no model."""

    def __init__(self, artifacts: Any) -> None:
        self._artifacts = artifacts

    def load(self) -> None:
        """Load nothing."""

    def is_loaded(self) -> bool:
        """Tell that nothing has to be loaded."""
        return True

    def process_text(self, text: str, language: str) -> Any:
        """Split a text; the last token stands behind it, so that there is one at every place."""
        found = list(_TOKEN.finditer(text))
        tokens = [*(one[0] for one in found), " "]
        positions = [*(one.start() for one in found), len(text)]
        lemmas = [token.lower() for token in tokens]
        return self._artifacts([], tokens, positions, lemmas, self, language)

    def process_batch(self, texts: Sequence[str], language: str, **_: Any) -> Iterator[Any]:
        """Split several texts."""
        return ((text, self.process_text(text, language)) for text in texts)

    def is_stopword(self, word: str, language: str) -> bool:
        """Tell that no word is left out."""
        del word, language
        return False

    def is_punct(self, word: str, language: str) -> bool:
        """Tell whether a token is no word."""
        del language
        return not word.isalnum()

    def get_supported_entities(self) -> list[str]:
        """Name the kinds that it finds itself: none."""
        return []

    def get_supported_languages(self) -> list[str]:
        """Name the languages that it splits."""
        return [_LANGUAGE]
