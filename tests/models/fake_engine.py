"""Stands in for the engine of the local model: the real child program around a small HTTP server of its own.

What the prompt says decides what happens: `crash` and `killed` end the process, `hang` never answers, and anything else
is answered with the number of the process. The file `plan.gguf` holds the answers instead, the last one for ever.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from afterword.models import local_child


def serve(settings: Mapping[str, object]) -> tuple[object, str]:
    name = Path(str(settings["model"])).name
    if name == "refuse.gguf":
        raise RuntimeError("the file\nis no model")
    if name == "die.gguf":
        os.abort()
    planned = json.loads(Path(str(settings["model"])).read_text()) if name == "plan.gguf" else []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = body["messages"][-1]["content"]
            if self.headers["Authorization"] != f"Bearer {settings['key']}":
                self.answer(401, {"error": {"message": "wrong key"}})
            elif planned:
                answer = planned.pop(0) if len(planned) > 1 else planned[0]
                choice = {"message": {"content": answer["content"]}, "finish_reason": answer["finish_reason"]}
                failure = {"error": {"message": "it broke"}}
                self.answer(400, failure) if answer["fails"] else self.answer(200, {"choices": [choice]})
            elif prompt == "crash":
                os.abort()
            elif prompt == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            elif prompt == "hang":
                time.sleep(60)
            else:
                seen = {
                    "process": os.getpid(),
                    "settings": {**settings, "key": ""},
                    "body": body,
                    "env": dict(os.environ),
                }
                choice = {"message": {"content": json.dumps(seen)}, "finish_reason": "stop"}
                self.answer(200, {"model": "/a/path", "choices": [choice]})

        def answer(self, status: int, content: object) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


if __name__ == "__main__":
    local_child.main(serve)
