"""The decision family on the command line: worlds of one's own, games, judges that can be swapped, bad usage."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Command
from tests.families.decision.games import need_alfworld, need_express
from tests.families.decision.shop import shop

EXAMPLE = Path(__file__).parents[2] / "examples" / "vault"
LESSON = (
    'In step 2 I gave `dance` and the answer was "Nothing happens." I should have given another action; then the world '
    "would have changed. Next time I will give the action that the world lists."
)


@pytest.fixture
def vault(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The arguments that run the example, from its folder."""
    monkeypatch.chdir(EXAMPLE)
    yield ["--family", "decision", "vault:Vault", "--tasks", "tasks.jsonl", "--model", "scripted:replies.jsonl"]
    sys.modules.pop("vault", None)
    sys.path[:] = [place for place in sys.path if place != str(EXAMPLE)]


def script(file: Path, *replies: str, lessons: tuple[str, ...] = ()) -> str:
    rows = [{"role": "actor", "text": text} for text in replies]
    rows += [{"role": "reflector", "text": text} for text in lessons]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return f"scripted:{file}"


def test_a_world_of_ones_own_is_won_after_a_lesson(afterword: Command, vault: list[str]) -> None:
    ran = afterword("run", *vault, "--limit", "1", "--no-journal", "--json")
    told = json.loads(ran.out)
    assert ran.code == 0
    assert (told["task"], told["status"], told["trust"]) == ("mirror", "unverified", "environment")
    assert [(trial["end"], trial["passed"]) for trial in told["trials"]] == [("stuck", False), ("finished", True)]
    assert told["trials"][1]["lessons_shown"] == [1]
    assert told["trials"][0]["problems"] == []


def test_all_tasks_of_a_world_are_run(afterword: Command, vault: list[str]) -> None:
    ran = afterword("run", *vault, "--no-journal")
    assert ran.code == 0
    assert "2 unverified" in ran.out


def test_a_trial_that_is_judged_from_outside_is_checked_against_the_world(afterword: Command, vault: list[str]) -> None:
    ran = afterword("run", *vault, "--limit", "1", "--judge", "heuristic", "--no-journal", "--json")
    told = json.loads(ran.out)
    assert (told["status"], told["trust"]) == ("accepted", "heuristic")
    assert told["acceptance"] == {"passed": True, "checks_passed": 1, "checks_total": 1, "trust": "environment"}


def test_a_judge_that_is_taken_in_is_caught_by_the_world(afterword: Command, vault: list[str], tmp_path: Path) -> None:
    judge = tmp_path / "judge.jsonl"
    judge.write_text('{"text": "{\\"reason\\": \\"it says so\\", \\"verdict\\": \\"pass\\"}"}\n', encoding="utf-8")
    model = ["--judge", "model", "--judge-model", f"scripted:{judge}"]
    ran = afterword("run", *vault, "--limit", "1", *model, "--no-journal", "--json")
    told = json.loads(ran.out)
    assert ran.code == 1
    assert (told["status"], told["trust"], len(told["trials"])) == ("rejected", "model", 1)
    assert told["trials"][0]["end"] == "stuck"


def test_the_heuristic_can_be_set_and_switched_off(afterword: Command, vault: list[str], tmp_path: Path) -> None:
    model = ["--model", script(tmp_path / "r.jsonl", *["type 1"] * 9), "--strategy", "retry", "--max-trials", "1"]
    given = [*vault[:-2], *model, "--limit", "1", "--no-journal", "--json", "--max-steps", "9"]
    ends = []
    for options in (["--stuck-cycles", "6"], ["--stuck-actions", "5", "--stuck-cycles", "0"], ["--watch", "off"]):
        (trial,) = json.loads(afterword("run", *given, *options).out)["trials"]
        ends.append((trial["end"], trial["usage"]["actor"]["calls"]))
    assert ends == [("stuck", 7), ("stuck", 6), ("step_limit", 9)]


def test_failures_of_a_run_are_classed_by_trial(afterword: Command, vault: list[str], tmp_path: Path) -> None:
    journal = ["--journal", str(tmp_path / "runs.db")]
    assert afterword("run", *vault, *journal).code == 0
    run = json.loads(afterword("runs", *journal, "--json").out.splitlines()[0])["run"]
    told = json.loads(afterword("failures", run, *journal, "--json").out)
    classes = [(row["task"], row["trial"], row["class"]) for row in told["trials"]]
    assert sorted(classes, key=str) == sorted(
        [("drawer", 1, None), ("mirror", 1, "inefficient_planning"), ("mirror", 2, None)], key=str
    )
    first = told["by_trial"][0]
    assert (first["trial"], first["trials"], first["failed"], first["inefficient_planning"]) == (1, 2, 1, 1)
    assert "possession" in afterword("failures", run, *journal).out


def test_failure_classes_are_refused_for_programs(afterword: Command, tmp_path: Path) -> None:
    journal = ["--journal", str(tmp_path / "runs.db")]
    folder = EXAMPLE.parent / "track_order"
    afterword("run", folder, "--model", f"scripted:{folder / 'replies.jsonl'}", *journal)
    run = json.loads(afterword("runs", *journal, "--json").out.splitlines()[0])["run"]
    ran = afterword("failures", run, *journal)
    assert ran.code == 2
    assert "failure classes are for decision" in ran.complaint


def test_failure_classes_are_refused_in_one_line_for_a_run_of_many_tasks(afterword: Command, tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text(
        "".join(f'{{"id": {n}, "question": "?", "answer": "y"}}\n' for n in range(3)), encoding="utf-8"
    )
    model = script(tmp_path / "r.jsonl", *["Answer: x"] * 3)
    afterword("run", "--family", "qa", questions, "--model", model, "--max-trials", "1")
    run = json.loads(afterword("runs", "--json").out.splitlines()[0])["run"]
    assert "failure classes are for decision" in afterword("failures", run).complaint


def test_alfworld_is_played_in_the_old_language(afterword: Command, data_dir: Path, tmp_path: Path) -> None:
    need_alfworld()
    index = [json.loads(line) for line in (data_dir / "alfworld" / "index.jsonl").read_text("utf-8").splitlines()]
    row = next(row for row in index if row["split"] == "valid_seen")
    game = json.loads((data_dir / "alfworld" / row["gamefile"]).read_text("utf-8"))
    model = script(tmp_path / "r.jsonl", "think: first look", *game["walkthrough"])
    options = ["--data", str(data_dir), "--language", "old", "--limit", "1", "--no-journal", "--json"]
    told = json.loads(afterword("run", "alfworld", "--model", model, *options).out)
    assert (told["status"], told["trust"]) == ("unverified", "environment")
    assert told["trials"][0]["usage"]["actor"]["calls"] == len(game["walkthrough"]) + 1


@pytest.mark.timeout(600)
def test_verify_plays_every_walkthrough(afterword: Command, data_dir: Path) -> None:
    need_alfworld()
    ran = afterword("verify", "alfworld", "--data", data_dir, "--split", "valid_seen", "--json")
    told = json.loads(ran.out)
    assert ran.code == 0
    assert (told["games"], told["won"], told["lost"]) == (12, 12, [])


def test_verify_says_which_game_is_not_won(afterword: Command, data_dir: Path, tmp_path: Path) -> None:
    need_alfworld()
    source = data_dir / "alfworld"
    row = json.loads((source / "index.jsonl").read_text("utf-8").splitlines()[0])
    game = json.loads((source / row["gamefile"]).read_text("utf-8"))
    target = tmp_path / row["gamefile"]
    target.parent.mkdir(parents=True)
    target.write_text(json.dumps({**game, "walkthrough": game["walkthrough"][:-1]}), encoding="utf-8")
    (tmp_path / "index.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    ran = afterword("verify", "alfworld", "--data", tmp_path, "--split", row["split"])
    assert ran.code == 1
    assert "0 of 1 walkthroughs win" in ran.out
    assert "not won after all" in ran.out


def test_textworld_express_is_played(afterword: Command, tmp_path: Path) -> None:
    need_express()
    model = script(tmp_path / "r.jsonl", "dance", "take coin")
    told = json.loads(
        afterword("run", "textworld-express:coin:3", "--model", model, "--no-journal", "--json", "--watch", "off").out
    )
    assert (told["task"], told["status"]) == ("textworld-express/coin/train/3", "unverified")


def test_webshop_is_played_over_http_with_its_grade(afterword: Command, tmp_path: Path) -> None:
    wrong = ("search[socks]", "click[B000000002]", "click[Buy Now]")
    right = ("search[socks]", "click[B000000001]", "click[m]", "click[Buy Now]")
    model = script(tmp_path / "r.jsonl", *wrong, *right, lessons=(LESSON.replace("dance", "click[Buy Now]"),) * 2)
    with shop() as url:
        ran = afterword("run", "webshop:3", "--url", url, "--model", model, "--no-journal", "--json")
    told = json.loads(ran.out)
    assert ran.code == 0
    assert [(trial["score"], trial["passed"]) for trial in told["trials"]] == [(0.5, False), (1.0, True)]


def test_a_shop_that_is_not_there_is_a_fault(afterword: Command, tmp_path: Path) -> None:
    with shop() as url:
        gone = url
    model = script(tmp_path / "r.jsonl", "search[socks]")
    ran = afterword("run", "webshop", "--url", gone, "--model", model, "--no-journal")
    assert ran.code == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["vault:Nobody", "--tasks", "tasks.jsonl"], "has no 'Nobody'"),
        (["vault:Vault"], "needs --tasks FILE"),
        (["nothing"], "unknown source 'nothing'"),
        (["textworld-express:coins"], "did you mean 'coin'?"),
        (["textworld-express:coin:x"], "expected a number from 0"),
        (["webshop"], "webshop needs --url"),
        (["webshop", "--url", "nowhere"], "--url takes the address"),
        (["vault:Vault", "--tasks", "replies.jsonl"], "replies.jsonl:1: unknown key 'role'"),
        (["vault:Vault", "--tasks", "absent.jsonl"], "absent.jsonl: cannot be read"),
        (["vault:Vault", "--tasks", "tasks.jsonl", "--judge", "god"], "--judge takes"),
        (["vault:Vault", "--tasks", "tasks.jsonl", "--watch", "god"], "--watch takes"),
        (["vault:Vault", "--tasks", "tasks.jsonl", "--max-steps", "0"], "--max-steps takes"),
        (["vault:Vault", "--tasks", "tasks.jsonl", "--stuck-cycles", "-1"], "--stuck-cycles takes"),
        (["vault:Vault", "--tasks", "tasks.jsonl", "--split", "valid_seen"], "--split is for alfworld"),
        (["vault:Vault", "--tasks", "tasks.jsonl", "--judge-votes", "3"], "--judge-votes is for --judge model"),
        (["vault:Vault", "--tasks", "tasks.jsonl", "--judge-model", "local"], "no model judges here"),
        (["vault:Vault", "--tasks", "tasks.jsonl", "--mode", "cot"], "no option of the family decision"),
    ],
)
def test_bad_usage_is_one_line(afterword: Command, vault: list[str], arguments: list[str], said: str) -> None:
    ran = afterword("run", "--family", "decision", *arguments, "--model", "scripted:replies.jsonl", "--no-journal")
    assert ran.code == 2
    assert said in ran.err
    assert len(ran.err.strip().splitlines()) == 1


def test_verify_refuses_what_is_of_games_for_programs(afterword: Command) -> None:
    ran = afterword("verify", "humaneval", "--split", "valid_seen")
    assert ran.code == 2
    assert "are of alfworld" in ran.err


def test_a_limit_below_one_is_refused(afterword: Command) -> None:
    assert (
        "--limit takes a number from 1, found 0"
        in afterword("verify", "alfworld", "--data", ".", "--limit", "0").complaint
    )


def test_a_judging_model_that_nothing_asks_is_refused(afterword: Command) -> None:
    ran = afterword("run", "alfworld", "--model", "scripted:none.jsonl", "--judge-model", "local")
    assert "no model judges here; add --judge model or --watch model, or leave out --judge-model" in ran.complaint


@pytest.mark.parametrize("option", ["--judge-votes", "--judge-temperature"])
def test_what_a_model_that_watches_does_not_heed_is_refused(afterword: Command, option: str) -> None:
    ran = afterword("run", "alfworld", "--model", "scripted:none.jsonl", "--watch", "model", option, "1")
    assert f"{option} is for --judge model; add that or leave {option} out" in ran.complaint
