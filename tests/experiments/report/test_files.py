"""The files of a report: what the page holds, that it needs nothing from outside, and that no name can break it."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import anyio
import pytest

from afterword.errors import InputError
from afterword.experiments.comparison import Comparison, compare
from afterword.experiments.report import Gathered, gather
from afterword.experiments.report.data import write_csv
from afterword.experiments.report.files import write_report
from afterword.experiments.report.markdown import escaped, markdown
from afterword.experiments.report.page import page
from afterword.experiments.report.plots import draw
from afterword.experiments.results import Result
from afterword.journal import open_journal
from tests.experiments.made import experiment, result
from tests.experiments.report.kept import keep

HOSTILE = (
    "<script>alert(1)</script>",
    "</svg><img src=x onerror=alert(2)>",
    "$\\frac{1}{",
    "=HYPERLINK(1)",
    "a|b `c` [d](http://e.f) @g #1",
    "\N{HANGUL SYLLABLE HAN} \U0001f600",
)


class Reader(HTMLParser):
    """Elements, attributes and text of a page, as a browser would take them."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.text = " ".join(reader.text.split())
    return reader


def without_runs(results: Sequence[Result]) -> tuple[Gathered, Comparison]:
    return Gathered(tuple(results), {}, (), ()), compare(results)


def drawn(results: Sequence[Result]) -> list[str]:
    return [plot.name for plot in draw(without_runs(results)[1])]


@pytest.fixture(scope="module")
def made() -> tuple[Gathered, Comparison]:
    """Two arms, two seeds, one of them unfinished, from a journal."""

    async def main() -> Gathered:
        async with open_journal(":memory:") as journal:
            settings = {"models": {"model": "scripted:a"}, "allowance": {"calls": 4}}
            first = await keep(journal, {"retry": "+-x+-+", "reflexion": "+++-x+"}, seed=0, settings=settings)
            second = await keep(
                journal, {"retry": "+--+-+", "reflexion": "+x+-+!"}, seed=1, settings=settings, end=False
            )
            return await gather(journal, [first, second])

    gathered = anyio.run(main)
    return gathered, compare(gathered.results)


def test_the_page_says_it_all(made: tuple[Gathered, Comparison]) -> None:
    gathered, comparison = made
    text = read(page(gathered, comparison, ())).text
    for said in (
        "2 arms on 6 tasks, 2 seeds",
        "No difference from retry beyond chance can be told",
        "Of what the evaluator passed for retry",
        "is not finished (interrupted)",
        "How often the evaluator was wrong",
        "Easy and hard tasks",
        "What the lessons did",
        "then gained checks",
        "What these numbers cannot say",
        "allowance.calls",
        "scripted:a",
        "afterword run tasks",
        f"afterword resume {gathered.runs[1].summary.id}",
    ):
        assert said in text


def test_the_page_asks_for_nothing_and_runs_nothing(made: tuple[Gathered, Comparison]) -> None:
    html = page(*made, draw(made[1]))
    reader = read(html)
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(reader.elements)
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'") in (
        reader.attributes
    )
    outside = [value for name, value in reader.attributes if name in ("href", "src", "xlink:href")]
    assert all(value.startswith("#") for value in outside)
    assert "url(" not in html.replace("url(#", "")
    assert "@import" not in html


def test_plots_stand_in_the_page_as_text(made: tuple[Gathered, Comparison]) -> None:
    plots = draw(made[1])
    assert [plot.name for plot in plots] == [
        "differences",
        "solved-by-tokens",
        "solved-by-calls",
        "solved-by-cost",
        "solved-by-trial",
    ]
    for plot in plots:
        assert plot.svg.startswith("<svg viewBox=")
        assert "reflexion" in read(plot.svg).text
        assert "var(--ink, #1f2328)" in plot.svg
        assert plot.png.startswith(b"\x89PNG")


def test_of_many_arms_the_curves_of_those_that_differ_most_are_drawn() -> None:
    arms = {"retry": 1.0, **{f"alike {number}": 1.0 for number in range(12)}, "better": 2.5}
    plots = draw(without_runs(list(experiment(arms, tasks=60)))[1])
    tokens = next(plot for plot in plots if plot.name == "solved-by-tokens")
    text = read(tokens.svg).text
    assert "better" in text
    assert "retry" in text
    assert text.count("alike") == 6
    assert "Left out: 6 arms" in tokens.told


def test_the_same_results_give_the_same_files(made: tuple[Gathered, Comparison], tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_report(*made, tmp_path / name)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes(), file.name


def test_the_numbers_stand_beside_the_page(made: tuple[Gathered, Comparison], tmp_path: Path) -> None:
    files = write_report(*made, tmp_path / "new" / "folder")
    assert files[0].name == "index.html"
    told = json.loads((tmp_path / "new" / "folder" / "comparison.json").read_text())
    assert [arm["arm"] for arm in told["arms"]] == ["retry", "reflexion"]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "new" / "folder" / "arms.csv").read_text())))
    assert [(row["arm"], row["results"]) for row in rows] == [("retry", "12"), ("reflexion", "12")]
    assert len((tmp_path / "new" / "folder" / "results.csv").read_text().splitlines()) == 25


def test_a_folder_that_cannot_be_written_is_told(made: tuple[Gathered, Comparison], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="give another --out"):
        write_report(*made, tmp_path / "file" / "below")


def hostile() -> tuple[Gathered, Comparison]:
    chance = random.Random(2)  # noqa: S311 - no secret
    arms = dict.fromkeys(("retry", *HOSTILE), 1.0)
    return without_runs(list(experiment(arms, tasks=12, chance=chance)))


def test_no_name_becomes_markup() -> None:
    gathered, comparison = hostile()
    reader = read(page(gathered, comparison, draw(comparison)))
    assert "script" not in reader.elements
    assert "img" not in reader.elements
    assert not any(name.startswith("on") for name, _ in reader.attributes)
    for name in HOSTILE:
        assert " ".join(name.split()) in reader.text


def test_no_name_becomes_markup_in_markdown() -> None:
    text = markdown(*hostile())
    assert not re.search(r"(?<!\\)<(?!/?details>|/?summary>)", text)
    assert not re.search(r"(?<!\\)\]\(", text)
    assert "http://" not in text
    assert "@g" not in text
    tables = [table.splitlines() for table in re.findall(r"(?:^\| .*\n)+", text, re.MULTILINE)]
    assert len(tables) == 2
    for rows in tables:
        assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {len(re.findall(r"\|", rows[0]))}


def test_a_command_stays_in_its_block() -> None:
    async def main() -> Gathered:
        async with open_journal(":memory:") as journal:
            name = await keep(journal, {"retry": "+-"}, command=("afterword", "```", "<img src=x>"))
            return await gather(journal, [name])

    gathered = anyio.run(main)
    text = markdown(gathered, compare(gathered.results))
    assert "\n````\nafterword '```' '<img src=x>'\n" in text


@pytest.mark.parametrize("text", ["a\nb", "# head", "a\x00b", "www.e.f", "https://e.f"])
def test_markdown_text_stays_on_its_line_and_links_nowhere(text: str) -> None:
    told = escaped(text)
    assert "\n" not in told
    assert "\x00" not in told
    assert "://" not in told
    assert "www." + "e" not in told


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", " =1"])
def test_no_text_becomes_a_formula(text: str) -> None:
    stream = io.StringIO()
    write_csv([{"arm": text, "difference": -0.5}], stream)
    row = next(csv.DictReader(io.StringIO(stream.getvalue())))
    assert row["arm"] == f"'{text}"
    assert row["difference"] == "-0.5"


def test_nothing_is_drawn_of_nothing() -> None:
    assert drawn([result("a", "retry", passed=(False,)), result("a", "reflexion", passed=(False,))]) == ["differences"]
    assert drawn([result("a", "retry", passed=(False, False))]) == []
    assert drawn([result("a", "retry", faulted=True), result("a", "reflexion", faulted=True)]) == []
    assert drawn([result("a", "retry"), result("b", "reflexion")]) == ["solved-by-tokens", "solved-by-calls"]
    assert "solved-by-cost" not in drawn([result(f"t{n}", "retry", cost_usd=None) for n in range(3)])


@pytest.mark.parametrize(
    "results",
    [
        [result("a")],
        [result("a", faulted=True)],
        [result("a", passed=(False,)), result("a", "reflexion", passed=(False,))],
        [result("a"), result("b", "reflexion", cost_usd=None)],
        [result(f"t{n}", arm, passed=(True,)) for n in range(5) for arm in ("retry", "reflexion")],
        [result("a", "retry", seed=0), result("a", "reflexion", seed=1)],
    ],
    ids=["one result", "one fault", "none solved", "no common task", "all solved", "no common seed"],
)
def test_what_is_hardly_an_experiment_is_reported_too(results: list[Result], tmp_path: Path) -> None:
    files = write_report(*without_runs(results), tmp_path)
    text = read(files[0].read_text()).text
    assert "nan" not in text.lower().split()
    assert "inf" not in text.lower().split()
    assert "What these numbers cannot say" in text
    assert "Not known: no held-out check judged the results." in text


def test_pictures_of_an_earlier_report_do_not_stay(made: tuple[Gathered, Comparison], tmp_path: Path) -> None:
    gathered, comparison = made
    write_report(gathered, comparison, tmp_path)
    (tmp_path / "mine.png").touch()
    kept = {file.name for file in tmp_path.iterdir()}
    assert "solved-by-trial.png" in kept
    nothing = compare([result(f"t{n}", arm, passed=(False,)) for n in range(3) for arm in ("retry", "reflexion")])
    write_report(gathered, nothing, tmp_path)
    assert kept - {file.name for file in tmp_path.iterdir()} >= {"solved-by-trial.png"}
    assert (tmp_path / "mine.png").exists()


@pytest.mark.parametrize("name", ["- a", "+ b", "1. c", "2) d", "GH-26", ":tada:"])
def test_no_text_begins_a_list_or_names_something(name: str) -> None:
    assert escaped(name) != name
    assert escaped(name).replace("\\", "").replace("\N{WORD JOINER}", "") == name


def test_numbers_and_words_stay_as_they_are() -> None:
    assert escaped("12 of 40: 3.5 points, retry-2") == "12 of 40: 3.5 points, retry-2"
