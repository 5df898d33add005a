"""A report as a folder of files: the page, the summary, the plots as pictures, and the numbers behind them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from afterword.errors import InputError
from afterword.experiments.comparison import Comparison
from afterword.experiments.report.data import CsvValue, arm_rows, result_rows, told, write_csv
from afterword.experiments.report.gathering import Gathered
from afterword.experiments.report.markdown import markdown
from afterword.experiments.report.page import page
from afterword.experiments.report.plots import PLOTS, draw

PAGE = "index.html"


def write_report(gathered: Gathered, comparison: Comparison, folder: Path) -> tuple[Path, ...]:
    """Writes the report and returns its files, the page first. Files of an earlier report are written over.

    Raises:
        InputError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = tuple(_write(folder / name, content) for name, content in _files(gathered, comparison))
        for name in PLOTS:  # of an earlier report that had more to draw
            if (old := folder / f"{name}.png") not in written:
                old.unlink(missing_ok=True)
        return written
    except OSError as error:
        raise InputError(
            f"the report cannot be written here: {error.strerror}; give another --out", file=folder
        ) from None


def _files(gathered: Gathered, comparison: Comparison) -> Iterator[tuple[str, bytes]]:
    plots = draw(comparison)
    yield PAGE, _text(page(gathered, comparison, plots))
    yield "summary.md", _text(markdown(gathered, comparison))
    yield "comparison.json", _text(json.dumps(told(gathered, comparison), indent=1) + "\n")
    yield "arms.csv", _csv(arm_rows(comparison))
    yield "results.csv", _csv(result_rows(gathered.results))
    for plot in plots:
        yield f"{plot.name}.png", plot.png


def _text(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _csv(rows: Iterable[dict[str, CsvValue]]) -> bytes:
    stream = io.StringIO()
    write_csv(rows, stream)
    return _text(stream.getvalue())


def _write(file: Path, content: bytes) -> Path:
    file.write_bytes(content)
    return file
