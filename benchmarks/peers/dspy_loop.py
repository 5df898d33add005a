"""DSPy's Refine around one predictor, with DSPy's own instant model: three attempts, two pieces of advice."""

import logging
from importlib.metadata import version

import dspy
from dspy.utils import DummyLM
from line import serve
from loop_task import INSTRUCTIONS, LESSONS, OUTPUTS, timed


class Write(dspy.Signature):
    """Write a Python function."""

    assignment: str = dspy.InputField()
    program: str = dspy.OutputField()


def reward(_arguments, prediction):
    return float(prediction.program == OUTPUTS[2])


def advice(lesson):
    return {"discussion": "The program failed.", "advice": '{"self": "' + lesson + '"}'}


SCRIPT = (
    {"program": OUTPUTS[0]},
    advice(LESSONS[0]),
    {"program": OUTPUTS[1]},
    advice(LESSONS[1]),
    {"program": OUTPUTS[2]},
)
MODEL = DummyLM([])


class Counted:
    """The script, counting how much of it was asked for."""

    def __init__(self):
        self.asked = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.asked += 1
        return SCRIPT[self.asked - 1]


def run():
    MODEL.answers = Counted()
    prediction = REFINE(assignment=INSTRUCTIONS)
    assert prediction.program == OUTPUTS[2]
    assert MODEL.answers.asked == 5, f"{MODEL.answers.asked} model calls"
    return (MODEL.answers.asked + 1) // 2


def answer(question):
    return timed(run, question["tasks"])


# Refine feeds its own predictor values that the predictor then warns about, each time.
logging.getLogger("dspy").setLevel(logging.ERROR)
# Histories keep every prompt; that is not what is measured here.
dspy.configure(lm=MODEL, disable_history=True)
REFINE = dspy.Refine(dspy.Predict(Write), N=4, reward_fn=reward, threshold=1.0)
serve({"version": version("dspy"), "variants": ["sync Refine"]}, answer)
