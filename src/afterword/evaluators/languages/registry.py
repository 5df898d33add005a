"""The languages besides Python, by name. A further one is a module with a class like `JavaScript`, and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from afterword.evaluators.languages.javascript import JavaScript
from afterword.evaluators.languages.protocol import Language
from afterword.evaluators.languages.rust import Rust

LANGUAGES: Mapping[str, Language] = {language.name: language for language in (Rust(), JavaScript())}
