"""`afterword experiment`: arms on the same tasks under the same allowance, killed and resumed, and what it refuses."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.e2e.conftest import Command, Ran
from tests.e2e.processes import started
from tests.e2e.tasks import fenced
from tests.e2e.test_many_tasks import row, write_lines

FACTORS = {"double": 2, "triple": 3, "fourfold": 4}
ARMS = ("single", "retry", "best_of_n", "reflexion")
LESSONS = (
    "My trial failed `case:1`, where the result for 1 was 1, since I handed the number back. I will multiply it.",
    "The check `case:2` expects more, as my sum grows by a constant. Next I will use a factor and no term.",
    "With `case:3` I came short because something is missing for larger numbers. I will look at the ratio instead.",
)
Told = dict[tuple[str, str, int], dict[str, object]]


def program(name: str, result: str) -> str:
    return fenced(f"def {name}(n):\n    return {result}\n")


def write_experiment(folder: Path, *, more: str = "", arms: str = json.dumps(ARMS), trials: int = 3) -> Path:
    """Three tasks; of each the first attempt is wrong, of `double` the second right, of the others the third."""
    folder.mkdir(parents=True, exist_ok=True)
    write_lines(folder / "tasks.jsonl", *(row(name, factor) for name, factor in FACTORS.items()))
    rows: list[dict[str, object]] = []
    for name, factor in FACTORS.items():
        results = ("n", *(() if name == "double" else ("n + 1",)), f"{factor} * n", f"n * {factor}")
        rows += [{"role": "actor", "task": name, "text": program(name, result)} for result in results]
    rows += [{"role": "reflector", "text": lesson} for lesson in LESSONS * 3]
    write_lines(folder / "replies.jsonl", *rows)
    file = folder / "experiment.toml"
    file.write_text(
        f'tasks = ["tasks.jsonl"]\narms = {arms}\nseeds = [1, 2]\njournal = "runs.sqlite"\n'
        f'{more}\n[models]\nactor = "scripted:replies.jsonl"\n[allowance]\ntrials = {trials}\n',
        encoding="utf-8",
    )
    return file


def told_by(ran: Ran) -> Told:
    """The outcomes by task, arm and seed."""
    rows = [json.loads(line) for line in ran.out.splitlines()]
    return {(one["task"], one["arm"], one["seed"]): one for one in rows}


def come_to(told: Told) -> dict[tuple[str, str, int], tuple[object, ...]]:
    """What is compared between runs: all but times and isolation."""
    return {
        place: (one["status"], one["stop_reason"], one["best_trial"], one["usage"], len(one["trials"]))  # type: ignore[arg-type]
        for place, one in told.items()
    }


def spent(run: dict[str, object]) -> int:
    usage = run["usage"]
    assert isinstance(usage, dict)
    return int(usage["calls"])


def test_all_arms_on_all_tasks_with_all_seeds_and_the_first_trial_asked_once(
    tmp_path: Path, afterword: Command
) -> None:
    ran = afterword("experiment", write_experiment(tmp_path), "--json")
    told = told_by(ran)
    assert ran.code == 0
    assert len(told) == len(FACTORS) * len(ARMS) * 2
    assert {told["triple", arm, 1]["best_trial"] for arm in ARMS[1:]} == {3}
    assert {one["status"] for place, one in told.items() if place[1] == "single"} == {"gave_up"}
    assert {one["status"] for place, one in told.items() if place[1] != "single"} == {"accepted"}
    charged = sum(spent(one) for one in told.values())
    kept = json.loads(afterword("runs", "--journal", tmp_path / "runs.sqlite", "--json").out)
    again = 1 + 2 + 2  # trials after the first, of each task: retry and best_of_n share them too
    shared = 2 * (len(FACTORS) * (len(ARMS) - 1) + again)
    assert (kept["state"], kept["jobs"], kept["usage"]["calls"]) == ("finished", len(told), charged - shared)
    assert (kept["tasks"], kept["arms"], kept["seeds"], kept["jobs_left"]) == (len(FACTORS), len(ARMS), 2, 0)
    listed = afterword("runs", "--journal", tmp_path / "runs.sqlite").out
    assert "3 tasks x 4 arms x 2 seeds: 18 accepted, 6 gave up" in listed
    shown = afterword("show", "--journal", tmp_path / "runs.sqlite", kept["run"])
    assert "shared" not in shown.out
    assert shown.out.count("1 trial, 1 call") == len(FACTORS) * 2  # what was shared is charged to each arm in full
    samples = afterword("export", kept["run"], "--journal", tmp_path / "runs.sqlite", "--format", "sft").out
    assert len(samples.splitlines()) == kept["statuses"]["accepted"]


def test_a_killed_experiment_goes_on_as_if_nothing_had_happened(tmp_path: Path, afterword: Command) -> None:
    whole = told_by(afterword("experiment", write_experiment(tmp_path / "whole"), "--json"))
    file = write_experiment(tmp_path / "killed")
    with started(["experiment", file, "--json"]) as command:
        assert command.stdout is not None
        for _ in range(9):  # in the midst of a task
            assert command.stdout.readline()
        command.send_signal(signal.SIGKILL)
        command.wait()
    ran = afterword("resume", "--journal", tmp_path / "killed" / "runs.sqlite", "--json")
    assert ran.code == 0, ran.err
    assert come_to(told_by(ran)) == come_to(whole)


def test_identical_arms_come_to_identical_results(tmp_path: Path, afterword: Command) -> None:
    arms = '[{arm = "reflexion", name = "one"}, {arm = "reflexion", name = "two"}]'
    told = come_to(told_by(afterword("experiment", write_experiment(tmp_path, arms=arms), "--json")))
    for name in FACTORS:
        assert told[name, "one", 1] == told[name, "two", 1] == told[name, "one", 2]


@pytest.mark.parametrize(("limit", "most"), [("calls = 2", 2), ("calls = 4", 4)])
def test_no_arm_overruns_the_allowance_whatever_the_others_do(
    tmp_path: Path, afterword: Command, limit: str, most: int
) -> None:
    file = write_experiment(tmp_path)
    file.write_text(file.read_text() + limit + "\n")
    told = told_by(afterword("experiment", file, "--json", "--limit", "2"))
    assert all(spent(one) <= most for one in told.values())
    assert spent(told["triple", "retry", 1]) == min(most, 3)
    assert told["triple", "reflexion", 1]["stop_reason"] == "calls"


def test_one_task_that_cannot_run_stops_nothing(tmp_path: Path, afterword: Command) -> None:
    file = write_experiment(tmp_path)
    tests = "import no_such_module\nfrom solution import double\nassert double(1) == 2\n"
    rows = [row("double", 2, visible_cases=None, visible_tests=tests), row("triple", 3)]
    write_lines(tmp_path / "tasks.jsonl", *rows)
    ran = afterword("experiment", file, "--json")
    told = told_by(ran)
    assert {one["status"] for place, one in told.items() if place[0] == "double"} == {"faulted"}
    assert {told["triple", arm, 2]["status"] for arm in ARMS[1:]} == {"accepted"}
    assert ran.code == 3
    (run,) = {str(one["run"]) for one in told.values()}
    seen = json.loads(afterword("compare", run, "--journal", tmp_path / "runs.sqlite", "--json").out)
    assert {arm["arm"]: arm["faults"] for arm in seen["arms"]} == dict.fromkeys(ARMS, 2)  # it counts for each arm


def test_arms_that_do_not_see_the_verdict_are_judged_in_the_end(tmp_path: Path, afterword: Command) -> None:
    file = write_experiment(tmp_path, arms='["no_tests", "no_feedback", "no_reflection", "majority_vote"]')
    told = told_by(afterword("experiment", file, "--json", "--limit", "1"))
    assert {place[1]: one["acceptance"] is not None for place, one in told.items()} == dict.fromkeys(
        ("no_tests", "no_feedback", "no_reflection", "majority_vote"), True
    )
    assert told["double", "no_tests", 1]["stop_reason"] == "max_trials"


def test_the_actor_that_judges_itself_asks_its_own_model(tmp_path: Path, afterword: Command) -> None:
    file = write_experiment(tmp_path, arms='["self_refine"]')
    verdicts = ('{"reason": "it hands the number back", "verdict": "fail"}', '{"reason": "", "verdict": "pass"}')
    with (tmp_path / "replies.jsonl").open("a") as replies:
        replies.writelines(json.dumps({"role": "judge", "text": text}) + "\n" for text in verdicts)
    told = told_by(afterword("experiment", file, "--json", "--limit", "1"))
    one = told["double", "self_refine", 1]
    assert (one["status"], one["trust"], one["best_trial"]) == ("accepted", "model", 2)


def test_a_dry_run_tells_the_most_and_asks_nothing(tmp_path: Path, afterword: Command) -> None:
    file = write_experiment(tmp_path)
    dry = afterword("experiment", file, "--dry-run", "--json")
    most = json.loads(dry.out)["at_most"]
    assert dry.code == 0
    assert not (tmp_path / "runs.sqlite").exists()
    # best_of_n 3 calls, which single and retry share, reflexion 3 and 2 x 2 for lessons; the first of them once
    assert most["calls"] == len(FACTORS) * 2 * (3 + 7 - 1)
    told = told_by(afterword("experiment", file, "--json"))
    assert sum(spent(one) for one in told.values()) <= most["calls"] + len(FACTORS) * 2 * (1 + 3 + 1)
    kept = json.loads(afterword("runs", "--journal", tmp_path / "runs.sqlite", "--json").out)
    assert kept["usage"]["calls"] <= most["calls"]
    shown = afterword("experiment", file, "--dry-run").out
    assert "all arms act at temperature 0.7, since retry samples" in shown
    assert f"{most['tokens']:,} tokens ({most['tokens_out']:,} of them written)" in shown


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"single"', '"singel"', "unknown arm 'singel'; did you mean 'single'?"),
        ("seeds = [1, 2]", "seeds = [1, 1]", "expected each seed once, found 1 twice"),
        ("seeds = [1, 2]", "seeds = [9223372036854775807]", "expected a seed that a journal can keep"),
        ('"single"', '"single", {arm = "retry", name = "single "}', "expected each arm once, found 'single' twice"),
        ('"single"', '{arm = "retry", name = "  "}', "expected a name for the arm 'retry', found ' '"),
        ("seeds = [1, 2]", 'options = {judge_votes = "x"}', "the option 'judge_votes' takes a whole number, found 'x'"),
        ("seeds = [1, 2]", "options = {own_tests = 1}", "the option 'own_tests' takes true or false, found 1"),
        ("seeds = [1, 2]", "seedz = [1, 2]", "unknown key 'seedz'; did you mean 'seeds'?"),
        ('actor = "scripted:replies.jsonl"', 'actor = ""', "models.actor: string should have at least 1 character"),
        ("trials = 3", "trials = 0", "allowance.trials: input should be greater than or equal to 1, found 0"),
        ("trials = 3", "trails = 3", "unknown key 'allowance.trails'; did you mean 'trials'?"),
        ('tasks = ["tasks.jsonl"]', "", "expected tasks, found none"),
        ("seeds = [1, 2]", 'ids = ["quadruple"]', "the sources hold no task 'quadruple'"),
        ("seeds = [1, 2]", 'options = {mode = "cot"}', "'mode' is no option of the family programming"),
        ('"reflexion"]', '{arm = "retry", name = "x", memory = 3}]', "draws no lessons, so memory would do nothing"),
        ('"reflexion"]', '{arm = "reflexion", max_trials = 9}]', "has max_trials = 9, and the allowance is 3 trials"),
        ('"reflexion"]', '"retry"]', "expected each arm once, found 'retry' twice; give one of them another name"),
        ("[models]", "[models", "this is not valid TOML"),
        (
            'tasks = ["tasks.jsonl"]',
            'benchmark = "humanevl"',
            "unknown benchmark 'humanevl'; did you mean 'humaneval'?",
        ),
        ('"reflexion"]', "3]", "arms[3]: expected the name of an arm or a table, found 3"),
    ],
)
def test_a_file_that_says_something_wrong_is_refused_in_one_line(
    tmp_path: Path, afterword: Command, old: str, new: str, complaint: str
) -> None:
    file = write_experiment(tmp_path)
    file.write_text(file.read_text().replace(old, new))
    ran = afterword("experiment", file)
    assert ran.code == 2
    assert complaint in ran.complaint
    assert str(file) in ran.complaint or "no task" in ran.complaint


@pytest.mark.parametrize("option", ["--limit", "--jobs", "--verdicts", "--model-calls"])
def test_none_at_all_is_not_all(tmp_path: Path, afterword: Command, option: str) -> None:
    ran = afterword("experiment", write_experiment(tmp_path), option, "0")
    assert (ran.code, ran.out) == (2, "")
    assert f"{option} takes a number from 1, found 0" in ran.complaint


def test_an_allowance_without_a_single_reply_is_refused(tmp_path: Path, afterword: Command) -> None:
    file = write_experiment(tmp_path)
    file.write_text(file.read_text().replace("trials = 3", "tokens = 500"))
    ran = afterword("experiment", file, "--yes")
    assert ran.code == 2
    assert "500 tokens does not carry one reply of up to 1,024 tokens in the arm 'single'" in ran.complaint


def test_money_is_not_spent_unasked(tmp_path: Path, afterword: Command) -> None:
    file = write_experiment(tmp_path)
    ran = afterword("experiment", file, "--model", "openai:gpt-4o", "--ask-above-usd", "0.01", "--api-key", "k" * 20)
    assert ran.code == 2
    assert "there is nobody to ask; add --yes, or lower the allowance" in ran.err


def test_the_example_can_be_run_as_it_is(tmp_path: Path, afterword: Command) -> None:
    file = tmp_path / "example.toml"
    file.write_text(afterword("experiment", "--example").out.replace('benchmark = "humaneval"', 'tasks = ["t.jsonl"]'))
    write_lines(tmp_path / "t.jsonl", row("double", 2))
    ran = afterword("experiment", file, "--dry-run")
    assert ran.code == 0
    assert ran.out.startswith("1 task x 4 arms x 3 seeds; allowance of each: 4 trials, 20,000 tokens")


def test_repairs_of_own_tests_are_switches_of_an_arm(tmp_path: Path, afterword: Command) -> None:
    switches = "consensus = 3, mutation_check = true, test_review = true"
    arms = f'["reflexion", {{arm = "reflexion", name = "repaired", {switches}}}]'
    file = write_experiment(tmp_path, arms=arms, more="own_tests = true\nlimit = 1")
    written = "assert double(0) == 0\nassert double(1) == 2\nassert double(3) == 7\n"
    lesson = "My trial failed `own:3`, which expects 7 where I gave less. I will multiply by 2.\nDISPUTE: own:3"
    rows = [json.loads(line) for line in (tmp_path / "replies.jsonl").read_text().splitlines()]
    rows = [{**one, "text": lesson} if one["role"] == "reflector" else one for one in rows]
    rows += [{"role": "test_writer", "text": f"```python\n{written}```\n\nVERDICT: WRONG"} for _ in range(6)]
    write_lines(tmp_path / "replies.jsonl", *({"task": "double", **one} for one in rows))
    told = told_by(afterword("experiment", file, "--json"))
    plain, repaired = told["double", "reflexion", 1], told["double", "repaired", 1]
    assert (plain["status"], plain["stop_reason"]) == ("gave_up", "repeated_reflection")
    assert (repaired["status"], repaired["best_trial"]) == ("accepted", 2)


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ("consensus = 3", "consensus is about tests that a model writes, and the task has its own; set own_tests too"),
        ("own_tests = true\nconsensus = 4", "consensus takes an odd number of suites from 3, found 4"),
        ('without = ["hope"]', "a lesson can be without first_person, diagnosis, prescription, examples"),
    ],
)
def test_switches_that_cannot_be_are_refused_before_anything_is_asked(
    tmp_path: Path, afterword: Command, more: str, complaint: str
) -> None:
    ran = afterword("experiment", write_experiment(tmp_path, more=more))
    assert (ran.code, complaint in ran.complaint) == (2, True), ran.err


def run_in(afterword: Command, journal: tuple[str, Path]) -> str:
    return str(json.loads(afterword("runs", *journal, "--json").out.splitlines()[0])["run"])


def test_one_arm_of_an_experiment_is_forked(tmp_path: Path, afterword: Command) -> None:
    journal = ("--journal", tmp_path / "runs.sqlite")
    assert afterword("experiment", write_experiment(tmp_path)).code == 0
    run = run_in(afterword, journal)
    refused = afterword("fork", run, "--at", "triple:1", *journal)
    assert (refused.code, "--arm which one is meant: single, retry" in refused.err) == (2, True), refused.err
    refused = afterword("fork", run, "--at", "triple:1", "--arm", "reflexion", *journal)
    assert "--seed which one is meant: 1, 2" in refused.complaint
    refused = afterword("fork", run, "--at", "triple:4", "--arm", "reflexion", "--seed", "1", *journal)
    assert "did not judge a trial 4 of task 'triple' in the arm 'reflexion' with seed 1" in refused.complaint
    lesson = "I will multiply by three."
    chosen = ("--arm", "reflexion", "--seed", "2")
    forked = afterword("fork", run, "--at", "triple:1", "--lesson", lesson, *chosen, *journal, "--json")
    told = forked.told
    assert (forked.code, told["status"], told["best_trial"]) == (0, "accepted", 3)
    assert isinstance(told["trials"], list)
    assert told["trials"][0]["reflection"] == lesson
    whole, fork = (json.loads(line) for line in reversed(afterword("runs", *journal, "--json").out.splitlines()))
    assert (whole["jobs"], fork["jobs"], fork["arms"], fork["seeds"]) == (24, 1, 1, 1)
    assert fork["usage"]["calls"] == 4  # the first attempt of all arms is taken over, and nothing asked twice
    assert afterword("resume", str(fork["run"]), *journal, "--json").told == told


def test_a_fork_of_an_experiment_is_continued_and_the_experiment_is_not(tmp_path: Path, afterword: Command) -> None:
    journal = ("--journal", tmp_path / "runs.sqlite")
    assert afterword("experiment", write_experiment(tmp_path)).code == 0
    run = run_in(afterword, journal)
    refused = afterword("continue", run, "double", "--reveal-held-out", *journal)
    assert f"afterword fork {run} --at double:TRIAL --arm ARM" in refused.complaint
    assert afterword("fork", run, "--at", "double:0", "--arm", "retry", "--seed", "1", *journal).code == 0
    refused = afterword("continue", run_in(afterword, journal), "double", "--reveal-held-out", *journal)
    assert "with 'accepted'" in refused.complaint
    refused = afterword("audit", run, "--causal", *journal)
    assert (refused.code, "of `afterword run`" in refused.err) == (2, True), refused.err
