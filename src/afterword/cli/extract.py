"""`afterword extract`: the code that Afterword finds in raw model replies."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from afterword.cli.jsonl import field, optional_field, read_rows, row_id
from afterword.cli.text import counted, plain


def extract(
    replies: Annotated[
        Path, typer.Argument(help="JSON Lines of {id, reply, entry_point, signature?}.", metavar="REPLIES.jsonl")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one {id, code} object per line.")] = False,
) -> None:
    """Show the code found in model replies.

    It is null where there is none.
    """
    from afterword.families.programming.extraction import extract_code

    for row in read_rows(replies):
        name = row_id(row)
        code = extract_code(field(row, "reply"), field(row, "entry_point"), optional_field(row, "signature"))
        if as_json:
            sys.stdout.write(json.dumps({"id": name, "code": code}) + "\n")
        else:
            found = "no code" if code is None else counted(len(code.splitlines()), "line")
            sys.stdout.write(f"{plain(name)}  {found}\n")
