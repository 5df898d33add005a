"""HotPotQA from a folder of the user's: the questions of the paper's runs, and as many to develop with.

Nothing of the benchmark is shipped; `docs/data.md` says how to get it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from afterword.errors import InputError
from afterword.families.qa.question import Question
from afterword.families.qa.question_file import read_questions

FILES = {
    "hotpotqa": "hotpot_distractor_100.jsonl",
    "hotpotqa-train": "hotpot_train_dev_split.jsonl",
}
"""The 100 questions of the paper's runs, and 100 of the official training part, which share none with them."""
PARAGRAPHS = "wiki_paragraphs.jsonl"
_FOLDER = "hotpotqa"


def is_hotpotqa(name: str) -> bool:
    """Whether this is the name of a part of the benchmark, or nearly one."""
    return _plain(name).startswith("hotpotqa")


def load_hotpotqa(
    name: str, data_dir: Path, *, limit: int | None = None, ids: Sequence[str] | None = None
) -> Iterator[Question]:
    """The questions of a part in their published order, with the paragraphs that hold the answers.

    Args:
        name: one of `FILES`.
        data_dir: the folder that holds `hotpotqa/`, or that folder itself.
        limit: at most so many questions, the first ones.
        ids: only these questions.

    Raises:
        InputError: the part, its file or an id is not there.
    """
    plain = _plain(name)
    if plain not in FILES:
        close = difflib.get_close_matches(plain, FILES, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(FILES)}"
        raise InputError(f"unknown benchmark {name!r}; {hint}")
    questions = read_questions(find_file(data_dir, FILES[plain]))
    if ids is None:
        return islice(questions, limit)
    found = {question.id: question for question in questions if question.id in ids}
    if missing := [one for one in ids if one not in found]:
        raise InputError(f"{plain} has no question {missing[0]!r}; its ids are like '5a7613c15542994ccc9186bf'")
    return islice((found[one] for one in dict.fromkeys(ids)), limit)


def find_file(data_dir: Path, name: str) -> Path:
    """A file of the benchmark in the data folder or in its part `hotpotqa`.

    Raises:
        InputError: it is not there.
    """
    for path in (data_dir / _FOLDER / name, data_dir / name):
        if path.is_file():
            return path
    raise InputError(f"expected {_FOLDER}/{name} in this data folder; put it there or name another", file=data_dir)


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-")
