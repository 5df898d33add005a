"""Runs read out of a journal for a comparison."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from afterword.core.effects import SHARED
from afterword.errors import InputError
from afterword.experiments.comparison import compare
from afterword.experiments.report import baseline_of, gather
from afterword.experiments.report.sections import provenance
from afterword.journal import Journal, open_journal
from tests.experiments.report.kept import keep

pytestmark = pytest.mark.anyio


@pytest.fixture
async def journal() -> AsyncIterator[Journal]:
    async with open_journal(":memory:") as opened:
        yield opened


async def test_results_lessons_and_facts_are_read(journal: Journal) -> None:
    name = await keep(journal, {"retry": "+-x", "reflexion": "+-!"}, fingerprints={"code": "abc"})
    found = await gather(journal, [name])
    assert [(row.task, row.arm, row.status) for row in found.results][:3] == [
        ("t0", "retry", "accepted"),
        ("t1", "retry", "gave_up"),
        ("t2", "retry", "rejected"),
    ]
    assert found.lessons["reflexion"].lessons == 1
    assert found.lessons["reflexion"].effects["gained"].value == 1.0
    (facts,) = found.runs
    assert (facts.summary.id, facts.spec.fingerprints["code"], facts.unfinished) == (name, "abc", 0)
    assert found.caveats == ()


async def test_lessons_are_told_by_the_family_and_the_model_that_wrote_them(journal: Journal) -> None:
    plan = {
        "family": "programming",
        "settings": {"models": {"model": "openai:small", "reflector_model": None}},
        "arms": [
            {"name": "reflexion", "model": None, "reflector_model": None},
            {"name": "helped", "model": None, "reflector_model": "openai:large"},
            {"name": "other", "model": "openai:other", "reflector_model": None},
        ],
    }
    found = await gather(journal, [await keep(journal, {"reflexion": "-", "helped": "-", "other": "-"}, settings=plan)])
    assert {arm: (group.family, group.model) for arm, group in found.lessons.items()} == {
        "reflexion": ("programming", "openai:small"),
        "helped": ("programming", "openai:large"),
        "other": ("programming", "openai:other"),
    }


async def test_nothing_of_what_was_written_is_kept(journal: Journal) -> None:
    found = await gather(journal, [await keep(journal, {"reflexion": "--"})])
    assert "long text" not in repr(found)
    assert "half(0)" not in repr(found)


async def test_an_unfinished_run_is_told_and_gone_on_with(journal: Journal) -> None:
    name = await keep(journal, {"retry": "+- ", SHARED: " "}, end=False)
    found = await gather(journal, [name])
    assert len(found.results) == 2
    (told,) = found.caveats
    assert told.startswith(f"The run {name} is not finished (interrupted): this is about the 2 results that are there")
    assert "1 begun and not finished" in told


async def test_a_run_without_a_finished_task_is_refused(journal: Journal) -> None:
    name = await keep(journal, {"retry": " "}, end=False)
    with pytest.raises(InputError, match=f"no task of {name} is finished"):
        await gather(journal, [name])


async def test_a_run_named_twice_is_refused(journal: Journal) -> None:
    name = await keep(journal, {"retry": "+"})
    with pytest.raises(InputError, match="named twice"):
        await gather(journal, [name, name.rpartition("-")[2]])


async def test_arms_of_one_name_stay_apart(journal: Journal) -> None:
    first = await keep(journal, {"retry": "+-"}, settings={"model": "a"})
    second = await keep(journal, {"retry": "++", "reflexion": "++"}, settings={"model": "b"})
    found = await gather(journal, [first, second])
    names = {row.arm for row in found.results}
    assert names == {f"{first.rpartition('-')[2]}/retry", f"{second.rpartition('-')[2]}/retry", "reflexion"}


async def test_parts_of_one_experiment_are_put_together(journal: Journal) -> None:
    first = await keep(journal, {"retry": "+-"}, seed=0, settings={"model": "a", "seed": 0})
    second = await keep(journal, {"retry": "++"}, seed=1, settings={"model": "a", "seed": 1})
    comparison = compare((await gather(journal, [first, second])).results)
    assert [arm.arm for arm in comparison.arms] == ["retry"]
    assert (comparison.tasks, comparison.seeds) == (2, 2)


async def test_the_same_done_twice_is_not_put_together(journal: Journal) -> None:
    first, second = [await keep(journal, {"retry": "+-"}) for _ in range(2)]
    assert len({row.arm for row in (await gather(journal, [first, second])).results}) == 2


async def test_tasks_that_differ_are_not_compared(journal: Journal) -> None:
    first = await keep(journal, {"retry": "+-"}, fingerprints={"task:t0": "a", "task:t1": "b"})
    second = await keep(journal, {"reflexion": "++"}, fingerprints={"task:t0": "other", "task:t1": "b"})
    found = await gather(journal, [first, second])
    comparison = compare(found.results)
    assert comparison.against[0].tasks == 1
    assert found.caveats[0].startswith("1 task of the same name differ between the runs")


async def test_a_hostile_name_of_an_arm_is_made_plain(journal: Journal) -> None:
    found = await gather(journal, [await keep(journal, {"a\x1b[31m\u202e" + "x" * 300: "+"})])
    (name,) = {row.arm for row in found.results}
    assert len(name) == 100
    assert "\x1b" not in name
    assert "\u202e" not in name


async def test_a_fingerprint_that_all_arms_share_is_told_once(journal: Journal) -> None:
    marks = {
        "code": "c",
        "task:t0": "t",
        "model:retry:actor": "a",
        "model:own: tests:actor": "a",
        "model:retry:reflector": "r",
        "model:own: tests:reflector": "other",
    }
    found = await gather(journal, [await keep(journal, {"retry": "+"}, fingerprints=marks)])
    told = dict(provenance(found.runs[0], "").facts)
    assert {name: value for name, value in told.items() if "fingerprint" in name} == {
        "fingerprint of code": "c",
        "fingerprint of model, actor": "a",
        "fingerprint of model, reflector of own: tests": "other",
        "fingerprint of model, reflector of retry": "r",
        "tasks with a fingerprint": "1",
    }


async def test_arms_whose_names_differ_in_the_middle_stay_apart(journal: Journal) -> None:
    names = [f"reflexion, a long name of a model, temperature {value}, window of three" for value in ("0.2", "0.9")]
    found = await gather(journal, [await keep(journal, {names[0]: "++", names[1]: "--"})])
    assert {arm.arm: arm.solved.value for arm in compare(found.results).arms} == {names[0]: 1.0, names[1]: 0.0}


async def test_each_run_tells_its_own_seeds(journal: Journal) -> None:
    runs = [await keep(journal, {"retry": "+-"}, seed=seed) for seed in (1, 2)]
    found = await gather(journal, runs)
    assert [facts.seeds for facts in found.runs] == [(1,), (2,)]


async def test_what_is_not_begun_and_arms_without_a_result_are_told(journal: Journal) -> None:
    plan: dict[str, object] = {
        "arms": [{"name": "retry", "arm": "retry"}, {"name": "late", "arm": "reflexion"}],
        "seeds": [0],
    }
    tasks = {f"task:t{n}": "x" for n in range(3)}
    name = await keep(journal, {"retry": "+- "}, end=False, settings=plan, fingerprints=tasks)
    first, second = (await gather(journal, [name])).caveats
    assert "the 2 results that are there, 1 begun and not finished, 3 not begun" in first
    assert second == "It has no result yet of late."


async def test_a_run_that_lacks_nothing_but_what_faulted_is_complete(journal: Journal) -> None:
    plan = {"arms": [{"name": "retry", "arm": "retry"}], "seeds": [0]}
    name = await keep(journal, {"retry": "+!"}, end=False, settings=plan, fingerprints={"task:t0": "x", "task:t1": "x"})
    assert (await gather(journal, [name])).caveats == (
        f"The run {name} is complete but for its faults, which `afterword resume` tries again.",
    )


async def test_a_pilot_is_told_to_be_one(journal: Journal) -> None:
    name = await keep(journal, {"retry": "+-"}, settings={"pilot": {"alpha": 0.05}})
    (told,) = (await gather(journal, [name])).caveats
    assert "is a pilot, which may end as soon as its answer is clear" in told


async def test_a_name_that_several_runs_have_means_the_first_runs_arm(journal: Journal) -> None:
    first, second = [await keep(journal, {"single": "+-", "retry": "++"}, settings={"model": m}) for m in "ab"]
    word = first.rpartition("-")[2]
    found = await gather(journal, [first, second])
    assert baseline_of(found, None) == f"{word}/retry"
    assert baseline_of(found, "single") == f"{word}/single"
    assert baseline_of(found, "none") == "none"  # which is refused by its name
    slash = await gather(journal, [await keep(journal, {"first": "+-", "mine/retry": "++"})])
    assert baseline_of(slash, None) is None
