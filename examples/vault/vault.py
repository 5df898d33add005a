"""A world of one's own in 40 lines: a vault behind a door whose code stands on a note.

cd examples/vault
afterword run --family decision vault:Vault --tasks tasks.jsonl --model scripted:replies.jsonl
"""

from afterword import EnvironmentStep


class Vault:
    """Made with the arguments of a task; the methods may be `async` or not."""

    def __init__(self, code: str, place: str = "drawer") -> None:
        self.code = code
        self.place = place
        self.at = "hall"

    def reset(self) -> str:
        self.at = "hall"
        return "You are in a hall. You see a drawer, a mirror and a vault with a keypad."

    def step(self, action: str) -> EnvironmentStep:
        verb, _, what = action.lower().partition(" ")
        if verb == "look" and what == self.place:
            return EnvironmentStep(f"A note is stuck to the {what}. It says {self.code}.")
        if verb == "look":
            return EnvironmentStep(f"Nothing is stuck to the {what}.")
        if verb == "type" and what == self.code:
            self.at = "vault"
            return EnvironmentStep("The vault opens.", done=True, won=True, reward=1.0)
        if verb == "type":
            return EnvironmentStep("The keypad beeps. Nothing happens.")
        return EnvironmentStep("Nothing happens.")

    def fingerprint(self) -> str:
        return f"{self.at} {self.place} {self.code}"

    def close(self) -> None:
        """There is nothing to close."""
