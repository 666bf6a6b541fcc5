"""Pairing: the exchange of a code of the console for the address and the token of a robot, and where they are kept."""
from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from .rest import Api

STORE = "wheelhouse-robot.json"
"""The default file of the credentials, in the working directory."""


@dataclass(frozen=True)
class Credentials:
    """What a robot connects with."""

    name: str
    url: str
    token: str


def paired(platform: str, code: str | None = None, store: str | os.PathLike[str] = STORE) -> Credentials:
    """Returns the credentials of an earlier pairing, or exchanges the code and keeps them in the file `store` (mode 0600).

    A code works once, so a program may contain it: the next start with the same code uses the file, another code pairs again.
    `platform` is the origin, as `https://hub.example.com`. Raises ApiError if the platform refuses the code, ValueError if there is
    neither a code nor a file.
    """
    platform, path = platform.rstrip("/"), Path(store)
    fingerprint = None if code is None else hashlib.sha256(f"{platform} {code}".encode()).hexdigest()
    try:
        kept = json.loads(path.read_text("utf-8"))
        # The robot in a terminal keeps its file in the same form, without a fingerprint.
        if fingerprint is None or kept.get("code_sha256") == fingerprint:
            return Credentials(kept["name"], kept["url"], kept["token"])
    except FileNotFoundError:
        pass
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        if code is None:
            raise ValueError(f"{path} has no credentials of a robot: delete it, and pair again") from error
    if code is None:
        raise ValueError(f"{path} does not exist: pass a pairing code of the console")
    answer = Api(platform).post_pairing(code=code)
    found = Credentials(answer["name"], answer["control_url"], answer["robot_token"])
    kept = {"name": found.name, "url": found.url, "token": found.token, "code_sha256": fingerprint}
    _write_private(path, json.dumps(kept, indent=2) + "\n")
    return found


def _write_private(path: Path, text: str) -> None:
    """Writes a file that only its user can read, whole or not at all."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    fresh.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
