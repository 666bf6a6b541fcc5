"""HTTP requests with the standard library."""
from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .backoff import retry_after_s
from .errors import ApiError

ERROR_CODE_HEADER = "Wheelhouse-Error"
MAX_RESPONSE_BYTES = 64 * 1024 * 1024
"""Largest response that is read into memory."""
REQUEST_LIMIT_S = 30.0
"""Longest wait for an answer, or for more of it."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but takes the credential to no other origin, as to the address of a file in an object store."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        following = super().redirect_request(req, fp, code, msg, headers, newurl)
        if following is not None and _origin(newurl) != _origin(req.full_url):
            following.remove_header("Authorization")
        return following


def _origin(url: str) -> tuple[str, str]:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https"):
        raise ValueError("the address must begin with http:// or https://")
    return parts.scheme, parts.netloc


_opener = urllib.request.build_opener(_Redirects)


@dataclass(frozen=True)
class Response:
    """A response with a status below 300."""

    status: int
    url: str
    """The address of the response, after redirects."""
    headers: Mapping[str, str]
    """Names in lower case. Several headers of one name are joined with commas (RFC 9110, section 5.3)."""
    content: bytes


def send_request(
    method: str,
    url: str,
    *,
    content: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    limit_s: float = REQUEST_LIMIT_S,
) -> Response:
    """Sends one request and waits for its response. Raises ApiError for a refusal, and with the status 0 if there was no response."""
    try:
        _origin(url)
        message = urllib.request.Request(url, data=content, headers=dict(headers or {}), method=method)
        with _opener.open(message, timeout=limit_s) as answer:
            body = answer.read(MAX_RESPONSE_BYTES + 1)
            if len(body) > MAX_RESPONSE_BYTES:
                raise ApiError(0, "too_large", f"the response of {method} {url} has more than {MAX_RESPONSE_BYTES} bytes")
            if answer.length:
                raise EOFError(f"{answer.length} bytes of it are missing")
            fields = {name.lower(): ", ".join(answer.headers.get_all(name, [])) for name in answer.headers}
            return Response(answer.status, answer.url, fields, body)
    except urllib.error.HTTPError as refusal:
        raise _refusal(refusal) from None
    except (OSError, ValueError, EOFError, http.client.HTTPException) as error:
        raise ApiError(0, "unreachable", f"no response to {method} {url}: {getattr(error, 'reason', error)}") from error


def _refusal(refusal: urllib.error.HTTPError) -> ApiError:
    try:
        message = str(json.loads(refusal.read(MAX_RESPONSE_BYTES))["error"])
    except Exception:  # a proxy may answer anything
        message = str(refusal.reason)
    code = refusal.headers.get(ERROR_CODE_HEADER) or ""
    return ApiError(refusal.code, code, message, retry_after_s=retry_after_s(refusal.headers))
