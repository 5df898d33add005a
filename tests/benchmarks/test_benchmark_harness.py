"""What the benchmarks stand on: medians, the page's blocks, the conversation with a driver."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.drivers import PEERS, Driver, DriverError
from harness.report import Aim, aims_table, table, write_block
from harness.samples import Sample, figure, spread
from harness.venvs import Peer, interpreter

DRIVER = """
import os, sys, time
sys.path.insert(0, {peers!r})
from line import serve

def answer(question):
    match question["do"]:
        case "echo":
            return {{"said": question["word"]}}
        case "noise":
            print("not an answer")
            os.write(3, b'{{"said": "forged", "id": 999}}\\nhalf a line')
            return {{"said": "true"}}
        case "fail":
            raise ValueError("out of paper")
        case "die":
            sys.stderr.write("first\\nlast words\\n")
            sys.stderr.flush()
            os._exit(3)
        case "sleep":
            time.sleep(60)

serve({{"version": "7"}}, answer)
"""


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[Driver]:
    program = tmp_path / "driver.py"
    program.write_text(DRIVER.format(peers=str(PEERS)))
    with Driver([sys.executable, program]) as running:
        yield running


def test_sample_tells_median_and_range() -> None:
    sample = Sample((3.0, 1.0, 20.0))
    assert sample.median == 3.0
    assert spread(sample) == "1.00 to 20.0"
    assert sample.scaled(2).values == (6.0, 2.0, 40.0)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0321, "0.032"), (5.158, "5.16"), (33.6, "33.6"), (158.7, "159"), (12345.6, "12,346")],
)
def test_figures_have_three_significant_digits(value: float, text: str) -> None:
    assert figure(value) == text


def test_table_is_markdown() -> None:
    assert table(("a", "b"), [("x", "1")]) == "| a | b |\n| --- | ---: |\n| x | 1 |"


def test_missed_aim_is_told_as_missed() -> None:
    text = aims_table([Aim("under 5", "4", met=True), Aim("under 3", "4", met=False)])
    assert "| under 5 | 4 | met |" in text
    assert "| under 3 | 4 | **missed** |" in text


def test_block_is_replaced_and_the_rest_kept(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- loop: begin -->\nold\n<!-- loop: end -->\nafter\n")
    write_block("loop", "new\n", page)
    write_block("loop", "newer\n", page)
    assert page.read_text() == "before\n<!-- loop: begin -->\nnewer\n<!-- loop: end -->\nafter\n"


def test_page_without_the_block_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- loop: begin -->\nunclosed\n")
    with pytest.raises(SystemExit, match="no block 'loop'"):
        write_block("loop", "new", page)
    assert "unclosed" in page.read_text()


def test_driver_says_hello_and_answers(driver: Driver) -> None:
    assert driver.hello["version"] == "7"
    assert driver.ask({"do": "echo", "word": "one"})["said"] == "one"
    assert driver.ask({"do": "echo", "word": "two"})["said"] == "two"


def test_what_a_judged_program_prints_is_no_answer(driver: Driver) -> None:
    assert driver.ask({"do": "noise"}, 10.0)["said"] == "true"


def test_error_of_a_driver_is_raised_and_it_goes_on(driver: Driver) -> None:
    with pytest.raises(DriverError, match="ValueError: out of paper"):
        driver.ask({"do": "fail"})
    assert driver.ask({"do": "echo", "word": "on"})["said"] == "on"


def test_dead_driver_is_told_with_its_last_words(driver: Driver) -> None:
    with pytest.raises(DriverError, match="died: last words"):
        driver.ask({"do": "die"})


def test_silent_driver_is_given_up(driver: Driver) -> None:
    with pytest.raises(DriverError, match=r"no answer within 0\.2 s"):
        driver.ask({"do": "sleep"}, 0.2)


def test_environment_counts_only_when_finished(tmp_path: Path) -> None:
    peer = Peer("lemmas", ("lemmas==0.4.0",), "lemmas_loop.py")
    python = tmp_path / "lemmas" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert interpreter(tmp_path, peer) is None
    (tmp_path / "lemmas" / "installed-lemmas==0.4.0").touch()
    assert interpreter(tmp_path, peer) == python
    assert interpreter(tmp_path, Peer("lemmas", ("lemmas==0.5.0",), "lemmas_loop.py")) is None
