"""PyPI reflexion-agent, with a reflection function of our own; its memory belongs to the agent, so one a task."""

from importlib.metadata import version

from line import serve
from loop_task import INSTRUCTIONS, LESSONS, MESSAGES, OUTPUTS, timed
from reflexion import EvaluationResult, EvaluationStatus, Reflector, ReflexionAgent, Task


def run():
    def solve(_task, reflections):
        return OUTPUTS[len(reflections)]

    def evaluate(_task, output):
        number = OUTPUTS.index(output)
        status = EvaluationStatus.SUCCESS if number == 2 else EvaluationStatus.FAILURE
        return EvaluationResult(status=status, score=float(number == 2), feedback=MESSAGES[number])

    def reflect(_task, attempt, _evaluation):
        return LESSONS[OUTPUTS.index(attempt.result)]

    result = ReflexionAgent(solve, evaluate, Reflector(reflect), max_attempts=4).run(Task(question=INSTRUCTIONS))
    assert result.success
    return result.total_attempts


def answer(question):
    return timed(run, question["tasks"])


serve({"version": version("reflexion-agent"), "variants": ["sync functions"]}, answer)
