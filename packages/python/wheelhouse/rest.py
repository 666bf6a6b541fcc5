"""The REST API: one method for each operation of the platform, made from its OpenAPI document."""
from __future__ import annotations

import json
import keyword
import re
import time
import urllib.parse
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ._http import REQUEST_LIMIT_S, Response, send_request
from .backoff import Backoff
from .errors import ApiError

MAX_ATTEMPTS = 4
"""Most attempts of a request, with the first one."""
MAX_RETRY_WAIT_S = 30.0
"""If the platform asks for a longer pause, its refusal is raised."""

_UNCERTAIN_STATUSES = frozenset({0, 502, 503, 504})
"""Without a response, or with these ones of a proxy, the platform may or may not have received the request."""


@dataclass(frozen=True)
class Operation:
    """One operation of the API, and what it takes."""

    name: str
    method: str
    path: str
    summary: str
    path_names: frozenset[str]
    query_names: frozenset[str]
    body_names: frozenset[str]
    """Fields of a JSON body; empty without one, or if it is no object."""
    required: frozenset[str]
    content_type: str | None
    """The type of the body; None without one."""


def snake_case(name: str) -> str:
    """Returns `postSessionTicket` as `post_session_ticket`."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


@lru_cache(maxsize=1)
def operations() -> dict[str, Operation]:
    """Returns the operations of the API by their name, as `post_session_ticket`."""
    here = Path(__file__).resolve().parent
    # In a checkout, the document is where it is maintained.
    file = next(path for path in (here / "openapi.json", here.parents[2] / "docs" / "openapi.json") if path.exists())
    document = json.loads(file.read_text("utf-8"))
    found = {}
    for path, methods in document["paths"].items():
        for method, declared in methods.items():
            if isinstance(declared, dict) and "operationId" in declared:
                operation = _operation(document, method, path, declared)
                found[operation.name] = operation
    return found


def _operation(document: dict[str, Any], method: str, path: str, declared: dict[str, Any]) -> Operation:
    parameters = [_resolved(document, item) for item in declared.get("parameters", ())]
    names = {place: frozenset(item["name"] for item in parameters if item["in"] == place) for place in ("path", "query")}
    required = {item["name"] for item in parameters if item.get("required") and item["in"] in names}
    body = _resolved(document, declared.get("requestBody", {}))
    content_type = next(iter(body.get("content", ())), None)
    schema = _resolved(document, body["content"][content_type].get("schema", {})) if content_type else {}
    fields = schema.get("properties", {}) if content_type == "application/json" else {}
    if body.get("required", False):
        required |= set(schema.get("required", ())) & set(fields)
    return Operation(
        snake_case(declared["operationId"]), method.upper(), path, declared.get("summary", ""), names["path"], names["query"],
        frozenset(fields) - names["path"] - names["query"], frozenset(required), content_type,
    )  # fmt: skip


def _resolved(document: dict[str, Any], item: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in item:
        target: Any = document
        for name in item["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        item = target
    return item


class Api:
    """Calls the REST API. Every operation is a method: `api.post_sessions(robotId=…)`, `api.get_session(id=…)`.

    Parameters of the path, of the query and fields of the body are keyword arguments (`from_` for `from`); a body that is no object is `body`.
    `help(api.get_session)` says what an operation does, and `dir(api)` lists them. A method returns the JSON of the response, bytes for other
    types, None for none. It raises TypeError for a name that the operation does not have or that is missing, and ApiError for a refusal.

    Reads, and every POST (which has an `Idempotency-Key`), are repeated after transient failures. Methods block: in a coroutine, use
    `asyncio.to_thread`.
    """

    def __init__(self, base_url: str, token: str | None = None, *, attempts: int = MAX_ATTEMPTS, limit_s: float = REQUEST_LIMIT_S) -> None:
        """`base_url` is the origin of the platform, `token` a session token or an API key, `limit_s` the longest wait for a response."""
        self.base_url, self.token = base_url.rstrip("/"), token
        self._attempts, self._limit_s = attempts, limit_s

    def __getattr__(self, name: str) -> Callable[..., Any]:
        operation = operations().get(name)
        if operation is None:
            raise AttributeError(f"the API has no operation {name!r}")

        def call(**arguments: Any) -> Any:
            return self._call(operation, {_plain_name(given): value for given, value in arguments.items()})

        call.__name__ = name
        call.__doc__ = f"{operation.summary}\n\n{operation.method} {operation.path}\n{_usage(operation)}"
        return call

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *operations()]

    def _call(self, operation: Operation, arguments: dict[str, Any]) -> Any:
        key = arguments.pop("idempotency_key", None)
        content_type = arguments.pop("content_type", operation.content_type)
        has_body, body = "body" in arguments and "body" not in operation.body_names, None
        if has_body:
            body = arguments.pop("body")
        known = operation.path_names | operation.query_names | (frozenset() if has_body else operation.body_names)
        needed = operation.required & known
        unknown, missing = sorted(arguments.keys() - known), sorted(needed - arguments.keys())
        if unknown or missing:
            problem = f"has no {', '.join(unknown)}" if unknown else f"needs {', '.join(missing)}"
            raise TypeError(f"{operation.name} {problem}: {_usage(operation)}")
        path = operation.path
        for name in operation.path_names:
            path = path.replace(f"{{{name}}}", urllib.parse.quote(str(arguments[name]), safe=""))
        query = {name: _query_value(arguments[name]) for name in sorted(operation.query_names & arguments.keys()) if arguments[name] is not None}
        if not has_body and content_type == "application/json":
            body = {name: arguments[name] for name in operation.body_names & arguments.keys()}
        if content_type is None or (body is None and not has_body):
            content = None
        else:
            content = json.dumps(body, allow_nan=False).encode() if content_type == "application/json" else _bytes(body)
        url = self.base_url + path + (f"?{urllib.parse.urlencode(query, doseq=True)}" if query else "")
        response = self._send(operation.method, url, content, content_type, key)
        if not response.content:
            return None
        if "json" not in response.headers.get("content-type", ""):
            return response.content
        try:
            return json.loads(response.content)
        except (ValueError, RecursionError) as error:
            raise ApiError(0, "unreadable", f"the response of {operation.method} {url} is no JSON") from error

    def _send(self, method: str, url: str, content: bytes | None, content_type: str | None, key: str | None) -> Response:
        headers = {"Accept": "application/json, */*;q=0.5"}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        if content is not None and content_type is not None:
            headers["Content-Type"] = content_type
        if method == "POST":
            headers["Idempotency-Key"] = key or str(uuid.uuid4())
        backoff = Backoff()
        while True:
            try:
                return send_request(method, url, content=content, headers=headers, limit_s=self._limit_s)
            except ApiError as refusal:
                wait_s = refusal.retry_after_s or 0.0
                if backoff.attempts + 1 >= self._attempts or wait_s > MAX_RETRY_WAIT_S or not _may_repeat(method, refusal):
                    raise
            time.sleep(backoff.next_s(wait_s))


def _may_repeat(method: str, refusal: ApiError) -> bool:
    if refusal.status == 429:  # the platform has not executed it
        return True
    if refusal.status == 409:  # a request with the same key is still running
        return method == "POST" and refusal.retry_after_s is not None
    return method in ("GET", "HEAD", "POST") and refusal.status in _UNCERTAIN_STATUSES


def _plain_name(name: str) -> str:
    """Returns `from` for `from_`, because Python reserves the name."""
    return name[:-1] if name.endswith("_") and keyword.iskeyword(name[:-1]) else name


def _query_value(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return [_query_value(item) for item in value] if isinstance(value, (list, tuple)) else value


def _bytes(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else bytes(body)


def _usage(operation: Operation) -> str:
    names = sorted(operation.path_names) + sorted(operation.query_names | operation.body_names)
    if operation.content_type is not None and not operation.body_names:
        names.append("body")
    arguments = [f"{name}_" if keyword.iskeyword(name) else name for name in names]
    shown = [argument if name in operation.required else f"{argument}=None" for name, argument in zip(names, arguments)]
    return f"{operation.name}({', '.join(shown)})"


def every_entry(page: Callable[[Any, int], Sequence[Any]]) -> Iterator[Any]:
    """Reads a list to its end, one page at a time, as the caller consumes it.

    `page` requests the next page. It gets the last entry (None at first) for lists that continue after an entry, and the number of entries
    so far for lists that continue by number: `every_entry(lambda last, count: api.get_client_robots(offset=count)["robots"])`.
    """
    last, count = None, 0
    while True:
        entries = page(last, count)
        if not entries:
            return
        yield from entries
        last, count = entries[-1], count + len(entries)
