"""GEPA: an optimisation that proposes twice until its candidate is right, kept in a run directory."""

import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from gepa import EvaluationBatch, optimize
from line import serve
from loop_task import INSTRUCTIONS, LESSONS, MESSAGES, OUTPUTS


class Adapter:
    """Scores a candidate by its place among the outputs."""

    def evaluate(self, batch, candidate, capture_traces=False):
        score = OUTPUTS.index(candidate["program"]) / 2
        traces = [{"score": score} for _ in batch] if capture_traces else None
        return EvaluationBatch(
            outputs=[candidate["program"]] * len(batch), scores=[score] * len(batch), trajectories=traces
        )

    def make_reflective_dataset(self, candidate, eval_batch, components_to_update):
        number = OUTPUTS.index(candidate["program"])
        return {"program": [{"Feedback": MESSAGES[number], "Lesson": LESSONS[min(number, 1)]}]}

    def propose_new_texts(self, candidate, reflective_dataset, components_to_update):
        return {"program": OUTPUTS[min(2, OUTPUTS.index(candidate["program"]) + 1)]}


class Quiet:
    """Says nothing, in place of a line for each step."""

    def log(self, message):
        pass


def one(folder):
    result = optimize(
        {"program": OUTPUTS[0]},
        trainset=[INSTRUCTIONS],
        adapter=Adapter(),
        candidate_selection_strategy="current_best",
        stop_callbacks=lambda state: max(state.program_full_scores_val_set) >= 1.0,
        run_dir=str(folder),
        logger=Quiet(),
    )
    assert result.best_candidate["program"] == OUTPUTS[2]
    return len(result.candidates)


def answer(question):
    with tempfile.TemporaryDirectory() as folder:
        one(Path(folder) / "warm")
        started = time.perf_counter()
        for number in range(question["tasks"]):
            candidates = one(Path(folder) / str(number))
            assert candidates == 3, f"made {candidates} candidates"
        return {"seconds": time.perf_counter() - started}


serve({"version": version("gepa"), "variants": ["run directory"]}, answer)
