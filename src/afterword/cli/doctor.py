"""`afterword doctor`: what works here, without printing a secret."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from afterword._version import __version__
from afterword.errors import InputError

if TYPE_CHECKING:
    from afterword.models.inventory import Availability
    from afterword.sandbox import LevelReport

EXTRAS = {
    "anthropic": "anthropic",
    "local": "xllamacpp",
    "schema": "jsonschema",
    "analysis": "scipy",
    "viewer": "starlette",
    "postgres": "psycopg",
    "parquet": "pyarrow",
    "games": "alfworld",
    "ray": "ray",
    "langgraph": "langgraph",
    "inspect": "inspect-ai",
    "otel": "opentelemetry-sdk",
}
"""The distribution that shows that an extra is installed."""
_NAME = len("textworld-express")


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Show what works here.

    Isolation levels, models and keys found, the local model, languages, extras, what games and PostgreSQL need.
    """
    from afterword.models.inventory import availability
    from afterword.sandbox import probe

    levels = anyio.run(probe)
    models = availability()
    languages = _languages()
    extras = {extra: _installed(distribution) for extra, distribution in EXTRAS.items()}
    needs = _needs()
    if as_json:
        told = {
            "version": __version__,
            "python": platform.python_version(),
            "isolation": {report.level: {"works": report.works, "why_not": report.why_not} for report in levels},
            "default_model": models.default_model,
            "keys": list(models.keys),
            "base_urls": list(models.base_urls),
            "local_model": {"path": str(models.weights_path), "state": models.weights},
            "languages": languages,
            "extras": extras,
            "needs": needs,
        }
        sys.stdout.write(json.dumps(told) + "\n")
        return 0
    sys.stdout.write("\n".join(_report(levels, models, languages, extras, needs)) + "\n")
    return 0


def _report(
    levels: Sequence[LevelReport],
    models: Availability,
    languages: Mapping[str, Mapping[str, str]],
    extras: Mapping[str, bool],
    needs: Mapping[str, Mapping[str, str]],
) -> list[str]:
    """The lines for a person."""
    from afterword.sandbox import STRONG

    lines = [f"afterword {__version__} on Python {platform.python_version()}, {platform.system()}", "", "isolation"]
    lines += [
        _line(report.works, report.level, report.why_not or _caution(report.level in STRONG)) for report in levels
    ]
    if not any(report.works and report.level in STRONG for report in levels):
        lines.append("  programs of models need --allow-weak-isolation here, which does not keep a hostile one in")
    lines += ["", "models"]
    lines.append(f"    {'default':<{_NAME}} {models.default_model}  (set --model or AFTERWORD_MODEL)")
    lines.append(
        _line(bool(models.keys), "keys", ", ".join(models.keys) or "none set: OPENAI_API_KEY, ANTHROPIC_API_KEY")
    )
    if models.base_urls:
        lines.append(_line(True, "addresses", ", ".join(models.base_urls)))
    lines.append(_line(models.local, "local model", _local(models.weights, "xllamacpp" in models.packages)))
    lines.append(f"    {'':<{_NAME}} {models.weights_path}")
    lines += ["", "languages"]
    lines += _found(languages)
    lines += ["", "extras"]
    lines += [
        _line(there, extra, "" if there else f"pip install 'afterword[{extra}]'") for extra, there in extras.items()
    ]
    lines += ["", "games and databases", *_found(needs)]
    return lines


def _found(tools: Mapping[str, Mapping[str, str]]) -> list[str]:
    return [_line(not told["why_not"], name, told["why_not"] or told["version"]) for name, told in tools.items()]


def _line(works: bool, name: str, remark: str) -> str:
    return f"  {'✓' if works else '✗'} {name:<{_NAME}} {remark}".rstrip()


def _caution(strong: bool) -> str:
    return "" if strong else "does not keep a hostile program in; only with --allow-weak-isolation"


def _languages() -> dict[str, dict[str, str]]:
    """The toolchains of languages besides Python: the version, or why there is none."""
    from afterword.evaluators.languages import LANGUAGES

    found = {}
    for name, language in LANGUAGES.items():
        try:
            version, why_not = language.find_toolchain().version.splitlines()[0], ""
        except InputError as error:
            version, why_not = "", error.message
        found[name] = {"version": version, "why_not": why_not}
    return found


def _needs() -> dict[str, dict[str, str]]:
    """What single games and the journal in PostgreSQL need: the version, or why it does not work."""
    from afterword.families.decision.worlds.textworld_express import find_java

    java = find_java()
    games = {game: _version(game) for game in ("alfworld", "textworld-express")}
    missing = "not installed; run: pip install 'afterword[games]'"
    found = {game: {"version": version, "why_not": "" if version else missing} for game, version in games.items()}
    return {
        **found,
        "java": {"version": java.version, "why_not": java.problem},
        "postgresql": _postgresql(),
    }


def _postgresql() -> dict[str, str]:
    """The binding is more than its package: it needs a library of PostgreSQL too, and only loading it shows that."""
    version = _version("psycopg")
    if not version:
        return {"version": "", "why_not": "not installed; run: pip install 'afterword[postgres]'"}
    try:
        import psycopg
    except ImportError as error:
        why = str(error).strip().splitlines() or ["it cannot be loaded"]
        return {"version": "", "why_not": f"psycopg {version} cannot be loaded: {why[0]}"}
    return {"version": f"psycopg {version}, {psycopg.pq.__impl__} binding", "why_not": ""}


def _installed(distribution: str) -> bool:
    return bool(_version(distribution))


def _version(distribution: str) -> str:
    """Empty where it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _local(weights: str, engine: bool) -> str:
    if weights == "missing":
        return "not installed; run: afterword model install"
    if weights != "verified":
        return "the file there is another one; remove it and run: afterword model install"
    return "verified" if engine else "verified, but its engine is missing; run: pip install 'afterword[local]'"
