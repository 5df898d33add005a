"""The question family: HotPotQA and question files, chain of thought, ReAct over article stores, its reflector."""

from afterword.families.qa.actions import Action, Move, read_move
from afterword.families.qa.articles import ArticleStore, ClosedArticles, Observation
from afterword.families.qa.chain_of_thought import ChainOfThought
from afterword.families.qa.hotpotqa import load_hotpotqa
from afterword.families.qa.prompting import PromptBounds
from afterword.families.qa.question import Mode, Paragraph, Question
from afterword.families.qa.question_file import read_paragraphs, read_questions
from afterword.families.qa.react import ReActActor
from afterword.families.qa.reflection import answer_reflector
from afterword.families.qa.wikipedia import Wikipedia, WikipediaOptions, open_wikipedia

__all__ = [
    "Action",
    "ArticleStore",
    "ChainOfThought",
    "ClosedArticles",
    "Mode",
    "Move",
    "Observation",
    "Paragraph",
    "PromptBounds",
    "Question",
    "ReActActor",
    "Wikipedia",
    "WikipediaOptions",
    "answer_reflector",
    "load_hotpotqa",
    "open_wikipedia",
    "read_move",
    "read_paragraphs",
    "read_questions",
]
