"""The question family on the command line: files of questions and HotPotQA, in three modes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from afterword.cli.families.interface import Bench, Item, Settings, Sizes
from afterword.core.effects import fingerprint
from afterword.core.protocols import Actor, Evaluator
from afterword.core.reflexion import Reflexion
from afterword.errors import InputError
from afterword.evaluators.exact_match import ExactMatch, StrictMatch
from afterword.families.programming.benchmarks import data_folder
from afterword.families.qa.articles import ArticleStore, ClosedArticles
from afterword.families.qa.chain_of_thought import ChainOfThought
from afterword.families.qa.hotpotqa import PARAGRAPHS, find_file, is_hotpotqa, load_hotpotqa
from afterword.families.qa.prompting import COT_EXAMPLES, REACT_EXAMPLES, PromptBounds, cot_examples, react_examples
from afterword.families.qa.question import Mode, Question
from afterword.families.qa.question_file import read_questions
from afterword.families.qa.react import ReActActor
from afterword.families.qa.reflection import MAX_REPORT_CHARS, MAX_STEPS_CHARS, answer_reflector
from afterword.families.qa.wikipedia import ENGLISH, WikipediaOptions, open_wikipedia
from afterword.reflectors.verbal import MAX_INSTRUCTIONS_CHARS

MEMORY = 3
"""As in the paper."""
COT_TOKENS = 256
STEP_TOKENS = 160
MAX_STEPS = 6
MATCHES = ("official", "f1", "strict")
"""What passes: the official exact match, the same with F1 as the score of wrong answers, or the strict match."""


class QuestionFamily:
    """Questions with known answers, judged by exact match."""

    name = "qa"
    options = frozenset({"mode", "articles", "examples", "max_steps", "match"})
    prompts = ("afterword.families.qa", "afterword.reflectors")

    def items(self, sources: Sequence[str], settings: Settings) -> Iterator[Item]:
        """The questions of all sources, each made when it is asked for.

        Raises:
            InputError: a source, a question or an option is wrong.
        """
        how = _how(sources, settings)
        questions = (question for source in sources for question in _questions(source, settings.data))
        for question in islice(questions, settings.limit):
            yield _item(question, how, settings)

    def sizes(self, settings: Settings) -> Sizes:
        """One call a trial, or one a step; the lengths are those that the prompts are bounded to."""
        bounds = PromptBounds()
        react = settings.text("mode") == Mode.REACT
        return Sizes(
            steps=settings.number("max_steps", MAX_STEPS) if react else 1,
            prompt_chars=12_000 + (2 * bounds.steps if react else 0),
            previous_chars=500 + 2 * bounds.previous,
            reply_tokens=settings.max_tokens or (STEP_TOKENS if react else COT_TOKENS),
            failed_trial_chars=6_000 + MAX_INSTRUCTIONS_CHARS + 2 * MAX_STEPS_CHARS + MAX_REPORT_CHARS,
        )


@dataclass(frozen=True, slots=True)
class _Articles:
    """Where things are looked up, not yet opened."""

    told: str
    digest: str
    opened: Callable[[Bench], Awaitable[ArticleStore]]


@dataclass(frozen=True, slots=True)
class _How:
    """What the options say, checked."""

    mode: Mode | None
    """None: with the paragraphs of the question where it has some, else from memory."""
    match: str
    examples: int
    max_steps: int
    articles: _Articles | None


def _how(sources: Sequence[str], settings: Settings) -> _How:
    stated = settings.text("mode")
    if stated and stated not in list(Mode):
        raise InputError(f"--mode takes {', '.join(Mode)}, found {stated!r}")
    mode = Mode(stated) if stated else None
    match = settings.text("match", "official")
    if match not in MATCHES:
        raise InputError(f"--match takes {', '.join(MATCHES)}, found {match!r}")
    react = mode is Mode.REACT
    for option in ("articles", "max_steps"):
        if settings.options.get(option) is not None and not react:
            raise InputError(f"--{option.replace('_', '-')} is for --mode react; add it or leave the option out")
    examples = settings.number("examples", REACT_EXAMPLES if react else COT_EXAMPLES)
    (react_examples if react else cot_examples)(examples)  # refuses a number that is not there
    max_steps = settings.number("max_steps", MAX_STEPS)
    if max_steps < 1:
        raise InputError(f"--max-steps takes a number from 1, found {max_steps}")
    return _How(mode, match, examples, max_steps, _articles(sources, settings) if react else None)


def _questions(source: str, data: Path | None) -> Iterator[Question]:
    path = Path(source)
    if is_hotpotqa(source) and not path.exists():
        return load_hotpotqa(source, data_folder(data))
    if path.is_dir():
        raise InputError("expected a JSON Lines file of questions, found a folder; name the file in it", file=path)
    return read_questions(path)


def _articles(sources: Sequence[str], settings: Settings) -> _Articles:
    stated = settings.text("articles")
    if not stated:
        if not all(is_hotpotqa(source) and not Path(source).exists() for source in sources):
            raise InputError("--mode react looks articles up; give --articles FILE.jsonl or --articles wikipedia")
        return _closed(find_file(data_folder(settings.data), PARAGRAPHS))
    if stated == "wikipedia" or stated.startswith(("http://", "https://")):
        return _live(ENGLISH if stated == "wikipedia" else stated)
    return _closed(Path(stated))


def _closed(file: Path) -> _Articles:
    store = ClosedArticles.from_file(file)

    async def opened(bench: Bench) -> ArticleStore:  # noqa: ARG001
        return store

    return _Articles(store.name, store.digest, opened)


def _live(url: str) -> _Articles:
    async def opened(bench: Bench) -> ArticleStore:
        options = WikipediaOptions(url, on_retry=bench.retried)
        return await bench.shared(("articles", url), partial(open_wikipedia, options))

    return _Articles(f"live articles of {url}", url, opened)


def _item(question: Question, how: _How, settings: Settings) -> Item:
    mode = how.mode or (Mode.COT_CONTEXT if question.context else Mode.COT)
    task = question.task(mode)
    evaluator: Evaluator = ExactMatch(question.answers, graded=how.match == "f1")
    held_out: Evaluator | None = StrictMatch(question.answers)
    told = "exact match, strict match held out"
    if how.match == "strict":
        evaluator, held_out, told = StrictMatch(question.answers), None, "strict match"

    @asynccontextmanager
    async def loop(bench: Bench) -> AsyncIterator[Reflexion]:
        yield await bench.reflexion(
            await _actor(bench, how, settings.max_tokens),
            evaluator,
            answer_reflector,
            held_out=held_out,
            memory=MEMORY,
        )

    articles = f"; {how.articles.told}" if how.articles else ""
    digest = how.articles.digest if how.articles else ""
    return Item(
        task,
        f"{mode}, {told}{articles}",
        fingerprint(task, question.answers, mode, how.match, how.max_steps, how.examples, digest),
        loop,
    )


async def _actor(bench: Bench, how: _How, max_tokens: int | None) -> Actor:
    model, temperature = await bench.model("actor"), bench.temperature("actor")
    if how.articles is None:
        return ChainOfThought(model, temperature, max_tokens or COT_TOKENS, how.examples)
    return ReActActor(
        model,
        await how.articles.opened(bench),
        temperature,
        max_steps=how.max_steps,
        max_tokens=max_tokens or STEP_TOKENS,
        examples=how.examples,
    )
