"""Policies: programs that drive a robot while they hold control, between people who may take it at any time."""
from __future__ import annotations

import asyncio
import inspect
from typing import Any

from .control import Lease, read_lease
from .errors import ApiError
from .operator import CONFLICT, Operator, SessionState
from .rest import Api


class Policy(Operator):
    """Drives the robot of a session as a policy: an `Operator` that sends commands only while it holds control.

        async with Policy("https://hub.example", key, session_id) as policy:
            await policy.request_control("ready to stack")
            await policy.drive(lambda: model(policy.telemetry))

    Use the key of a service account with the scopes `read` and `drive`.
    """

    def __init__(
        self,
        base_url: str | Api,
        token: str | None = None,
        session_id: str = "",
        *,
        shadow: bool = False,
        offer_poll_s: float = 2.0,
        data_channel: bool = True,
    ) -> None:
        """
        `shadow`: sends commands also while it does not hold control. The robot gets none of them; recordings and datasets have them.
        `offer_poll_s`: how often to look for offers of control to this program; 0 to accept none.
        """
        super().__init__(base_url, token, session_id, data_channel=data_channel)
        self.holds = False
        """Whether it holds control."""
        self._shadow, self._offer_poll_s = shadow, offer_poll_s
        self._user_id: str | None = None
        self._epoch = 0
        """The newest epoch that this program knows; 0 before the first one."""
        self._looking: asyncio.Task[None] | None = None

    def on_hold(self, lease: Lease) -> None:
        """Called when it gets control. `lease.command` and `lease.telemetry` are the newest of the robot, so that the policy continues from
        there. The robot stands, and moves with the next command."""

    def on_yield(self, lease: Lease) -> None:
        """Called when it no longer has control."""

    async def connect(self) -> SessionState:
        """Connects as every link, and accepts offers of control from then on."""
        state = await super().connect()
        if self._looking is None:
            await self._look()
            self._looking = asyncio.ensure_future(self._keep_looking())
        return state

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
        await super().close()

    async def request_control(self, reason: str | None = None) -> dict[str, Any]:
        """Asks who holds control for it. The request waits for a minute; `on_hold` tells that it was granted. Returns the lease of the
        REST API. Raises ApiError for a refusal, as when it holds control already (`control_held`)."""
        return await self._act("request", **({} if reason is None else {"reason": reason}))

    async def return_control(self) -> dict[str, Any]:
        """Gives control back to who had it before, or to the operator of the session. Raises ApiError when it does not hold control."""
        return await self._act("return")

    async def drive(self, source: Any, *, rate_hz: float = 20.0, seconds: float | None = None, ttl_ms: int | None = None) -> None:
        """Sends commands as an `Operator`. What `source` began to decide before control changed hands is not sent: it asks again."""

        async def decide() -> Any:
            while True:
                epoch = self._epoch
                data = await (source() if inspect.iscoroutinefunction(source) else asyncio.to_thread(source))
                if epoch == self._epoch or data is None:
                    return data

        await super().drive(decide if callable(source) else source, rate_hz=rate_hz, seconds=seconds, ttl_ms=ttl_ms)

    def _transmit(self, message: str | bytes) -> int | None:
        return super()._transmit(message) if self.holds or self._shadow else None

    def _send_goal(self, message: str) -> int | None:
        return super()._send_goal(message) if self.holds else None

    def handle(self, kind: str, frame: dict[str, Any]) -> None:
        if kind == "dropped" and self._shadow and frame["why"] == "not_holder":
            self._sent_s.pop(frame["seq"], None)  # that nobody obeys its shadow is no news
            return
        super().handle(kind, frame)
        if kind == "lease" and self.lease is not None:
            self._apply(self.lease, self.lease.you)

    def _apply(self, lease: Lease, holds: bool) -> None:
        if lease.epoch < self._epoch:
            return
        self._epoch = lease.epoch
        if holds != self.holds:
            self.holds = holds
            self._call(self.on_hold if holds else self.on_yield, lease)

    async def _act(self, action: str, **fields: Any) -> dict[str, Any]:
        lease: dict[str, Any] = await asyncio.to_thread(self.api.post_session_control, id=self.session_id, action=action, **fields)
        return lease

    async def _keep_looking(self) -> None:
        while self._offer_poll_s > 0 and self._task is not None and not self._task.done():
            await asyncio.sleep(self._offer_poll_s)
            await self._look()

    async def _look(self) -> None:
        """Looks who holds control, which no frame says while it never changed hands, and for an offer."""
        try:
            if self._user_id is None:
                self._user_id = str((await asyncio.to_thread(self.api.get_auth_profile))["id"])
            found = await asyncio.to_thread(self.api.get_session_control, id=self.session_id)
            if self._epoch == 0:
                lease = read_lease(found)
                self._apply(lease, lease.holder is not None and lease.holder.user_id == self._user_id)
            for request in found["requests"]:
                if request["kind"] == "offer" and request["to"] == self._user_id and self._offer_poll_s > 0:
                    await self._act("accept", requestId=request["id"])
        except ApiError as refusal:
            if refusal.status != CONFLICT:  # a conflict: somebody was faster
                self.report(refusal)
        except Exception as error:
            self.report(error)
