"""What a chat-completions server takes of what can be asked, learnt from what it refuses.

Compatible servers and OpenAI's own generations differ in three fields. Guessing from the address or the model's
name goes stale; a refusal names the field, so the same request is asked again in the words that are left.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from afterword.core.messages import ChatRequest

_MOST_STOPS = 4
"""More are refused; the reply is cut at the others here."""
_REFUSED = re.compile(
    r"unsupported|not supported|not support|unrecognized|unexpected|unknown|not permitted|not allowed|instead|invalid",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a request is put to one server."""

    limit_name: str = "max_tokens"
    """OpenAI's reasoning models refuse this name; most other servers know no other."""
    limit_settled: bool = False
    """The other name has been tried."""
    takes_schema: bool = True
    takes_stop: bool = True

    def fields(self, request: ChatRequest) -> dict[str, object]:
        """All of a request but its messages; what is not set is left out."""
        fields: dict[str, object] = {self.limit_name: request.max_tokens}
        if request.temperature is not None:
            fields["temperature"] = request.temperature
        if request.stop and self.takes_stop:
            fields["stop"] = list(request.stop[:_MOST_STOPS])
        if request.seed is not None:
            fields["seed"] = request.seed
        if request.schema is not None and self.takes_schema:
            form = {"name": "reply", "schema": dict(request.schema), "strict": is_closed(request.schema)}
            fields["response_format"] = {"type": "json_schema", "json_schema": form}
        return fields

    def after_refusal(self, said: str, request: ChatRequest) -> Dialect | None:
        """How to ask again after the server refused with these words; None when nothing is left to change."""
        if not _REFUSED.search(said):
            return None
        if self.limit_name in said and not self.limit_settled:
            other = "max_tokens" if self.limit_name == "max_completion_tokens" else "max_completion_tokens"
            return replace(self, limit_name=other, limit_settled=True)
        if request.schema is not None and self.takes_schema and ("response_format" in said or "json_schema" in said):
            return replace(self, takes_schema=False)
        if request.stop and self.takes_stop and re.search(r"['\"`]stop['\"`]", said):
            return replace(self, takes_stop=False)
        return None


def is_closed(schema: object) -> bool:
    """Whether every object of a schema lists all its properties as required and allows no others.

    Only such a schema can be enforced strictly; another one would be refused as a whole.
    """
    if isinstance(schema, Mapping):
        if schema.get("type") == "object":
            properties = schema.get("properties")
            names = set(properties) if isinstance(properties, Mapping) else set()
            required = schema.get("required")
            listed = set(required) if isinstance(required, list | tuple) else set()
            if schema.get("additionalProperties") is not False or names != listed:
                return False
        return all(is_closed(value) for value in schema.values())
    return all(is_closed(value) for value in schema) if isinstance(schema, list | tuple) else True
