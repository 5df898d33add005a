"""`afterword compare` and `afterword report` over a journal."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import anyio
import pytest

from afterword.journal import open_journal
from tests.e2e.conftest import Command
from tests.experiments.report.kept import keep


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite"


@pytest.fixture
def run(journal: Path) -> str:
    async def main() -> str:
        async with open_journal(journal) as opened:
            return await keep(opened, {"retry": "+" * 10 + "-" * 10, "re\x1bflexion": "+" * 18 + "x-"})

    return anyio.run(main)


def test_a_table_says_who_won_and_how_sure_that_is(afterword: Command, journal: Path, run: str) -> None:
    ran = afterword("compare", run, "--journal", journal)
    assert ran.code == 0, ran.err
    text = " ".join(ran.out.split())
    assert "solved 40 points more than retry (95 %: 17 to 61)" in text
    assert "Of what the evaluator passed for re\ufffdflexion, 5 % was wrong by the held-out check" in text
    assert "One seed:" in text
    assert "\x1b" not in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_no_figure_is_cut_at_any_width(
    afterword: Command, journal: Path, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> str:
        async with open_journal(journal) as opened:
            return await keep(opened, {"last_attempt_and_reflexion": "+" * 10 + "-" * 10, "retry": "+" * 18 + "x-"})

    kept = anyio.run(main)
    monkeypatch.setenv("COLUMNS", columns)
    options = ("--journal", journal, "--baseline", "last_attempt_and_reflexion")
    lines = afterword("compare", kept, *options).out.splitlines()
    assert max(map(len, lines)) <= int(columns)
    text = " ".join(" ".join(lines).split())
    for said in ("50 %", "30 to 70", "0.9 to 25", "p =", "tokens", "faults"):
        assert said in text


def test_json_and_csv_have_all_of_it(afterword: Command, journal: Path, run: str) -> None:
    told = afterword("compare", run, "--journal", journal, "--json").told
    assert told["baseline"] == "retry"
    arms = told["arms"]
    assert isinstance(arms, list)
    assert arms[0]["solved"]["value"] == 0.5
    rows = list(csv.DictReader(io.StringIO(afterword("compare", run, "--journal", journal, "--csv").out)))
    assert [(row["arm"], row["solved"]) for row in rows] == [("retry", "0.5"), ("re\ufffdflexion", "0.9")]


def test_another_baseline_can_be_named(afterword: Command, journal: Path, run: str) -> None:
    told = afterword("compare", run, "--journal", journal, "--json", "--baseline", "re\x1bflexion").told
    assert told["baseline"] == "re\ufffdflexion"


def test_a_report_is_a_folder_with_a_page(afterword: Command, journal: Path, run: str, tmp_path: Path) -> None:
    ran = afterword("report", run, "--journal", journal, "--out", tmp_path / "report")
    assert ran.code == 0, ran.err
    assert "report:" in ran.out
    names = sorted(file.name for file in (tmp_path / "report").iterdir())
    assert {"index.html", "summary.md", "comparison.json", "arms.csv", "results.csv", "differences.png"} <= set(names)
    files = json.loads(afterword("report", run, "--journal", journal, "--out", tmp_path / "report", "--json").out)
    assert sorted(Path(file).name for file in files["files"]) == names


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", "nothing"), "holds no run 'nothing'"),
        (("compare", "RUN", "--baseline", "no such"), "there is no arm 'no such' to compare with; there are retry,"),
        (("compare", "RUN", "--json", "--csv"), "choose one"),
        (("compare", "RUN", "RUN"), "is named twice"),
        (("report", "nothing", "--out", "x"), "holds no run 'nothing'"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    afterword: Command, journal: Path, run: str, arguments: tuple[str, ...], said: str
) -> None:
    ran = afterword(*(run if part == "RUN" else part for part in arguments), "--journal", journal)
    assert ran.code == 2
    assert said in ran.complaint
