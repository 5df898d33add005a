"""The whole loop around three plain functions: no model, no key, no network."""

from afterword import Reflexion

REMEDIES = {  # what to write, and instead of what
    "starts with an imperative": ("Fix", "Fixed"),
    "has at most 40 characters": ("on empty input", "that happens when the input is empty"),
    "ends without a full stop": ("", "."),
}


def act(context):
    """Writes the subject line of a commit, applying each lesson."""
    subject = "Fixed the crash that happens when the input is empty."
    for lesson in context.lessons:
        right, wrong = lesson.text.split('"')[1::2]
        subject = subject.replace(wrong, right)
    return subject


def evaluate(context):
    """Grades it by the share of rules it keeps, and names the first it breaks."""
    subject = context.trajectory.output
    kept = [not subject.startswith("Fixed"), len(subject) <= 40, not subject.endswith(".")]
    return sum(kept) / 3, next((rule for rule, ok in zip(REMEDIES, kept, strict=True) if not ok), "")


def reflect(context):
    """Turns the feedback into a lesson for the next trial."""
    rule = context.trial.feedback.message
    return 'A good subject {}: next time I write "{}", not "{}".'.format(rule, *REMEDIES[rule])


outcome = Reflexion(act, evaluate, reflect).run_sync("Write the subject line of the commit.")
for trial in outcome.trials:
    print(f"trial {trial.number}, score {trial.feedback.score:.2f}: {trial.trajectory.output}")
    if trial.reflection is not None:
        print(f"    {trial.reflection.text}")
print(f"{outcome.status} after {len(outcome.trials)} trials: {outcome.stop_reason}")
