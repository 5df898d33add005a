"""The decision family: worlds to act in, the actor that plays them, its reflector, and why trials fail."""

from afterword.families.decision.actor import EnvironmentActor, PlayBounds
from afterword.families.decision.failures import FailureClass, FailureRule, classify, count_failures
from afterword.families.decision.moves import Move, read_moves
from afterword.families.decision.play import Demonstration, read_play
from afterword.families.decision.reflection import game_reflector
from afterword.families.decision.worlds import (
    AlfworldGame,
    ChildWorld,
    Locker,
    OwnWorld,
    WebShop,
    express_world,
    load_alfworld,
    world_class,
)

__all__ = [
    "AlfworldGame",
    "ChildWorld",
    "Demonstration",
    "EnvironmentActor",
    "FailureClass",
    "FailureRule",
    "Locker",
    "Move",
    "OwnWorld",
    "PlayBounds",
    "WebShop",
    "classify",
    "count_failures",
    "express_world",
    "game_reflector",
    "load_alfworld",
    "read_moves",
    "read_play",
    "world_class",
]
