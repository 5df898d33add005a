"""Worlds to act in: each an `Environment`, each opened without holding up the others."""

from afterword.families.decision.worlds.alfworld import AlfworldGame, load_alfworld
from afterword.families.decision.worlds.child import ChildWorld
from afterword.families.decision.worlds.own import OwnWorld, world_class
from afterword.families.decision.worlds.textworld_express import express_world
from afterword.families.decision.worlds.toy import Locker
from afterword.families.decision.worlds.webshop import WebShop

__all__ = [
    "AlfworldGame",
    "ChildWorld",
    "Locker",
    "OwnWorld",
    "WebShop",
    "express_world",
    "load_alfworld",
    "world_class",
]
