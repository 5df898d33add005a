"""The commented example of an experiment's file: it names every key, and each that it comments out is taken."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from afterword.cli.experiment import template
from afterword.cli.experiment_file import Overrides, read_experiment
from afterword.cli.experiment_tables import AllowanceTable, FileTable, ModelsTable
from afterword.errors import InputError

OPTIONS = "# [options]"


@pytest.mark.parametrize("table", [FileTable, ModelsTable, AllowanceTable], ids=["file", "models", "allowance"])
def test_the_example_names_every_key(table: type[BaseModel]) -> None:
    named = set(re.findall(r"\b(\w+) = |\[(\w+)\]", template()))
    assert set(table.model_fields) - {key or name for key, name in named} == set()


def test_each_key_that_the_example_comments_out_is_taken(tmp_path: Path) -> None:
    before_options, found, _ = template().partition(OPTIONS)
    file = tmp_path / "example.toml"
    file.write_text(re.sub(r"^# (\w+ = )", r"\1", before_options, flags=re.MULTILINE))
    settings = read_experiment(file, Overrides()).plan.settings
    assert found == OPTIONS
    assert (settings.models.threads, settings.models.judge_temperature, settings.without) == (2, "0.0", ("diagnosis",))
    assert settings.allow_weak_isolation


def test_an_arm_has_models_and_temperatures_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "arms.toml"
    file.write_text(
        """
        tasks = ["tasks.jsonl"]
        [models]
        actor = "local"
        [[arms]]
        arm = "retry"
        [[arms]]
        name = "judged"
        arm = "reflexion"
        model = "openai:a"
        reflector_model = "openai:b"
        reflector_temperature = 0.1
        test_writer_model = "openai:c"
        judge_model = "openai:d"
        judge_temperature = "none"
        """
    )
    common, own = (case.settings.models for case in read_experiment(file, Overrides()).plan.cases)
    assert (common.model, common.judge_model, common.judge_temperature) == ("local", None, None)
    assert (own.model, own.reflector_model, own.test_writer_model) == ("openai:a", "openai:b", "openai:c")
    assert (own.judge_model, own.judge_temperature, own.reflector_temperature) == ("openai:d", "none", "0.1")


def test_an_arm_may_go_on_when_it_repeats_itself(tmp_path: Path) -> None:
    file = tmp_path / "arms.toml"
    head = 'tasks = ["tasks.jsonl"]\n[[arms]]\narm = "reflexion"\n[[arms]]\nname = "on"\n'
    file.write_text(f'{head}arm = "reflexion"\nstop_on_repetition = false\n')
    usual, own = (case.settings.stop_on_repetition for case in read_experiment(file, Overrides()).plan.cases)
    assert (usual, own) == (None, False)
    file.write_text(f'{head}arm = "retry"\nstop_on_repetition = true\n')
    with pytest.raises(InputError, match="'on' never ends by repetition"):
        read_experiment(file, Overrides())
