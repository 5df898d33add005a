"""`afterword rescore` on a small published run of our own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Command
from tests.experiments.rescore.logs import MEAN, ROOT_WITHOUT_IMPORT, item, programs

RUN = "a_run"


@pytest.fixture
def published(tmp_path: Path) -> Path:
    rows = [item("toy_2_mean", MEAN, True), item("toy_3_root", ROOT_WITHOUT_IMPORT, True)]
    programs(tmp_path / "published", RUN, rows)
    return tmp_path / "published"


def test_json_has_an_object_for_each_run(afterword: Command, published: Path) -> None:
    (line,) = afterword("rescore", published, "--json").out.splitlines()
    told = json.loads(line)
    assert {"run", "items", "claimed", "found", "unstable", "differences"} <= set(told)
    assert (told["run"], told["items"], told["claimed"], told["found"], told["unstable"]) == (RUN, 2, 2, 1, [])
    (different,) = told["differences"]
    assert different["task_id"] == "toy_3_root"


def test_a_person_reads_what_differs_and_why(afterword: Command, published: Path) -> None:
    ran = afterword("rescore", published)
    assert ran.code == 0
    assert ran.out.startswith(f"≠ {RUN}: 2 claimed, 1 found of 2\n")
    assert "own tests passed, program wrong: 0 of 2 (0.00%) as logged, 1 of 2 (50.00%) as found" in ran.out
    assert "    toy_3_root: solved → failed: " in ran.out


def test_a_page_of_some_runs_says_so(afterword: Command, published: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert afterword("rescore", published, "--run", RUN, "--paper", page).code == 0
    assert r"**Only of these runs**: a\_run." in page.read_text()
    assert afterword("rescore", published, "--paper", page).code == 0
    assert "Only of these runs" not in page.read_text()


def test_a_page_that_cannot_be_made_is_refused_before_anything_is_executed(
    afterword: Command, published: Path, tmp_path: Path
) -> None:
    for place, more in (
        (tmp_path / "none" / "page.md", ()),
        (tmp_path, ()),
        (tmp_path / "p", ("--emulate-shared-namespace",)),
    ):
        ran = afterword("rescore", published, "--paper", place, *more)
        assert (ran.code, ran.out) == (2, "")
        assert "--paper" in ran.complaint or "leave out --emulate-shared-namespace" in ran.complaint


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--language", "perl"), "--language is python or rust"),
        (("--run", "other"), "other"),
        (("--language", "rust"), "no run of programs in rust"),
    ],
)
def test_what_is_not_there_is_refused(
    afterword: Command, published: Path, arguments: tuple[str, ...], said: str
) -> None:
    ran = afterword("rescore", published, *arguments)
    assert ran.code == 2
    assert said in ran.complaint
