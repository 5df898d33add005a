"""PyPI lemmas: it has no reflector; what its critic says is the lesson."""

from importlib.metadata import version

from lemmas.reflexion import reflexion
from line import serve
from loop_task import INSTRUCTIONS, LESSONS, OUTPUTS, timed


def run():
    turn = iter(range(3))
    asked = iter(OUTPUTS)

    def critic(_answer):
        number = next(turn)
        return (True, "") if number == 2 else (False, LESSONS[number])

    result = reflexion(lambda _messages: next(asked), INSTRUCTIONS, critic)
    assert result.passed
    return result.iterations


def answer(question):
    return timed(run, question["tasks"])


serve({"version": version("lemmas"), "variants": ["sync functions"]}, answer)
