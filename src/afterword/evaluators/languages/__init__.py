"""Programs in other languages than Python, judged by tests in their own language; `docs/languages.md` tells how."""

from afterword.evaluators.languages.evaluator import LanguageTests
from afterword.evaluators.languages.judge import LanguageJudge, open_judge
from afterword.evaluators.languages.protocol import Language, Toolchain
from afterword.evaluators.languages.registry import LANGUAGES
from afterword.evaluators.languages.suite import LanguageSuite

__all__ = ["LANGUAGES", "Language", "LanguageJudge", "LanguageSuite", "LanguageTests", "Toolchain", "open_judge"]
