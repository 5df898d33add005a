"""The leak audit: held-out text in lessons and prompts is found after the loop, and nothing else is reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import anyio
import pytest

from afterword import ActContext, EvaluateContext, Evaluator, Feedback, Outcome, Reflection, Task, Trajectory
from afterword.core.effects import Effects
from afterword.core.events import Leaked
from afterword.core.leaks import MAX_LEAKS, Asked, find_leaks
from afterword.core.records import Leak, Trial
from tests.core.doubles import Heard, ListModel, StrictRecorder, ask, make_effects, make_trial
from tests.core.script import Script, run

HELD_OUT = ("test_both_signs", "case:7", "assert half(-17) == -9", "half([4, 8, 15])", "half(2)")


def found(
    *prompts: str, trials: Sequence[Trial] = (), task: str = "Halve it.", allowed: Sequence[str] = ()
) -> list[Leak]:
    asked = Asked()
    for number, prompt in enumerate(prompts, 1):
        asked.add(number, "actor", ask(prompt))
    return list(find_leaks(Task("t", task), trials, asked, HELD_OUT, allowed))


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("I failed test_both_signs.", "test_both_signs"),
        ("| assert half(-17) == -9", "assert half(-17) == -9"),
        ("line one\n    assert  half( -17 )==-9\nline three", "assert half(-17) == -9"),
        ("it calls `half([4,8,15])` there", "half([4, 8, 15])"),
    ],
)
def test_held_out_text_is_found_in_a_prompt(prompt: str, text: str) -> None:
    assert found("Nothing.", prompt) == [Leak(2, "actor", text)]


@pytest.mark.parametrize(
    "prompt", ["I failed case:7 and half(2).", "test_both_signs_of_it", "half([4, 8])", "assert half(-17) == -8", ""]
)
def test_what_gives_nothing_away_is_not_reported(prompt: str) -> None:
    assert found(prompt) == []


def test_what_the_task_or_the_visible_checks_say_is_no_leak() -> None:
    prompt = "assert half(-17) == -9, half([4, 8, 15])"
    assert found(prompt, task="For instance half([4,8,15]).") == [Leak(1, "actor", "assert half(-17) == -9")]
    assert found(prompt, allowed=["assert half(-17) == -9", "half([4, 8, 15])"]) == []


def test_held_out_text_is_found_in_a_lesson() -> None:
    assert found(trials=[make_trial(1, lesson="I will see that half([4, 8, 15]) works.")]) == [
        Leak(1, "lesson", "half([4, 8, 15])")
    ]


def test_a_text_is_told_once_for_each_place_where_it_stood() -> None:
    lesson = make_trial(1, lesson="test_both_signs failed.")
    assert found("test_both_signs", "test_both_signs failed.", trials=[lesson]) == [
        Leak(1, "lesson", "test_both_signs"),
        Leak(1, "actor", "test_both_signs"),
    ]


def test_a_long_list_of_leaks_is_cut() -> None:
    texts = [f"half({number}, {number})" for number in range(1_000, 1_100)]
    asked = Asked()
    asked.add(1, "actor", ask("\n".join(texts)))
    assert len(find_leaks(Task("t", ""), (), asked, texts, ())) == MAX_LEAKS


@dataclass
class Telling:
    """A held-out check that says what it is, and asks a model about it."""

    texts: tuple[str, ...] = HELD_OUT
    check_ids: tuple[str, ...] = ("test_both_signs",)

    def check_texts(self) -> Sequence[str]:
        if not self.texts:
            raise OSError("the file is gone")
        return self.texts

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        await context.effects.complete("judge", ListModel(["ok"]), ask("\n".join(self.texts)))
        return Feedback(True, 1.0, "exact")


@dataclass
class Asking:
    """An actor whose prompt holds what it found on the way, in trial 2."""

    found: str

    async def act(self, context: ActContext) -> Trajectory:
        seen = self.found if context.number == 2 else "nothing"
        await context.effects.complete("actor", ListModel(["ok"]), ask(f"I see {seen}."))
        return Trajectory(str(context.number))


def loop(actor: Asking, held_out: Evaluator, heard: Heard, effects: Effects | None = None) -> Outcome:
    async def main() -> Outcome:
        parts = Script(scores=[0.0, 0.0, 1.0]).parts(held_out=held_out)
        parts = type(parts)(actor, *(getattr(parts, name) for name in parts.__slots__[1:]))
        return await run(parts, heard=heard, effects=effects)

    return anyio.run(main)


def test_the_outcome_tells_what_leaked_and_keeps_its_status() -> None:
    heard = Heard()
    outcome = loop(Asking("half([4, 8, 15])"), Telling(), heard)
    assert outcome.status == "accepted"
    assert outcome.leaks == (Leak(2, "actor", "half([4, 8, 15])"),)
    assert Leaked("t", outcome.leaks) in heard
    assert heard.names()[-3:] == ["AcceptanceReached", "Leaked", "RunEnded"]


def test_the_held_out_check_itself_may_ask_a_model() -> None:
    heard = Heard()
    assert loop(Asking("nothing"), Telling(), heard).leaks == ()
    assert "Leaked" not in heard.names()


def test_a_resumed_run_finds_the_same_leaks() -> None:
    recorder = StrictRecorder()
    first = loop(Asking("test_both_signs"), Telling(), Heard(), make_effects(recorder=recorder))
    again = loop(Asking("test_both_signs"), Telling(), Heard(), make_effects(recorder=recorder.after_restart()))
    assert again.leaks == first.leaks == (Leak(2, "actor", "test_both_signs"),)


def test_checks_that_cannot_be_told_are_a_fault() -> None:
    outcome = loop(Asking("nothing"), Telling(()), Heard())
    assert outcome.status == "faulted"
    assert outcome.fault is not None
    assert "the file is gone" in outcome.fault.message


def test_nothing_is_looked_for_where_the_checks_are_not_told() -> None:
    assert loop(Asking("test_both_signs"), Script(scores=[1.0] * 3), Heard()).leaks == ()


def test_a_digest_is_looked_through_like_a_lesson() -> None:
    trial = make_trial(2)
    digest = Reflection("half([4, 8, 15]) is wrong", 1, merges=(1,))
    shown = Trial(2, trial.trajectory, trial.feedback, digests=(digest,))
    assert found(trials=[shown]) == [Leak(1, "lesson", "half([4, 8, 15])")]
