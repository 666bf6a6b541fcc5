"""Operators, the hub and the REST API, without a network."""
from __future__ import annotations

import asyncio
import socketserver
import struct
import threading
import unittest
from collections.abc import Callable
from typing import Any
from unittest import mock

from wheelhouse import Api, ApiError, Hub, LinkEnded, Observer, Operator, Policy, SessionState, StopState, every_entry
from wheelhouse._http import Response, send_request
from wheelhouse.operator import _StopRequest
from wheelhouse.rest import operations

WAIT_LIMIT_S = 60.0
"""Only ends a hang."""
RECORDED = SessionState("PAUSED", True, StopState("x", True, True))
RUNNING = SessionState("ACTIVE", True, None)


class StopRequestTest(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.sent = 0

    def send(self, reason: str | None) -> float | None:
        self.sent += 1
        return float(self.sent)

    async def test_a_stop_is_repeated_until_it_is_recorded(self) -> None:
        stop = _StopRequest(self.send)
        stop.state(RUNNING)
        done = stop.request("a reason")
        self.assertEqual(self.sent, 1)
        stop.pong(1.0)
        stop.tick()
        self.assertEqual(self.sent, 2)
        stop.state(SessionState("ACTIVE", True, StopState("x", True, False)))
        self.assertTrue(stop.pending)
        stop.state(RECORDED)
        await done
        self.assertFalse(stop.pending)

    async def test_a_state_that_was_sent_before_the_stop_arrived_does_not_confirm_it(self) -> None:
        stop = _StopRequest(self.send)
        stop.state(RUNNING)
        done = stop.request(None)
        stop.state(RECORDED)  # of an earlier stop
        self.assertTrue(stop.pending)
        stop.pong(1.0)
        await done

    async def test_a_stop_waits_for_the_connection_and_fails_with_the_link(self) -> None:
        stop = _StopRequest(self.send)
        done = stop.request(None)
        self.assertEqual(self.sent, 0)
        stop.dialling()
        stop.state(RUNNING)
        self.assertEqual(self.sent, 1)
        stop.offline()
        stop.state(RUNNING)
        self.assertEqual(self.sent, 2)
        stop.end(ApiError(0, "", "over"))
        with self.assertRaises(ApiError):
            await done
        with self.assertRaises(ApiError):
            await stop.request(None)


class FakeConnection:
    channel = None

    def __init__(self) -> None:
        self.frames: list[Any] = []

    def send_message(self, message: Any, *, droppable: bool = True) -> bool:
        self.frames.append(message)
        return True


class OperatorTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.operator = Operator("http://hub", "t", "s", data_channel=False)
        self.connection = FakeConnection()
        self.operator._connection = self.connection  # type: ignore[assignment]

    async def test_commands_are_numbered_and_slowed_down_only_where_their_speeds_are_known(self) -> None:
        self.operator.handle("limits", {"speed_scale": 0.5, "reason": "latency"})
        self.assertEqual(self.operator.control({"linear_mps": 1.0}, ttl_ms=100), 1)
        self.assertIn('"speed_scale":0.5,"data":{"linear_mps":0.5},"ttl_ms":100', self.connection.frames[0])
        self.assertEqual(self.operator.control({"linear": "fast"}, seen={"front": 1_795_167_060_000}), 2)
        self.assertIn('"data":{"linear":"fast"},"seen":{"front":1795167060000}', self.connection.frames[1])
        self.assertNotIn("speed_scale", self.connection.frames[1])

    async def test_after_a_stop_no_command_follows(self) -> None:
        self.operator.stop("x")
        self.assertIsNone(self.operator.control({}))
        self.assertEqual(self.connection.frames, [])

    async def test_the_round_trip_of_a_command_is_known_once(self) -> None:
        acks: list[tuple[int, bool]] = []
        self.operator.on_ack = lambda seq, round_trip_ms: acks.append((seq, round_trip_ms is not None))  # type: ignore[method-assign]
        self.operator.control({})
        for _ in range(2):
            self.operator.handle("ack", {"type": "ack", "seq": 1})
        self.assertEqual(acks, [(1, True), (1, False)])

    async def test_a_condition_is_asked_after_a_binary_sample_too(self) -> None:
        samples: list[bytes] = []
        self.operator.on_binary_telemetry = samples.append  # type: ignore[method-assign]
        self.operator._task = asyncio.ensure_future(asyncio.Event().wait())  # type: ignore[arg-type]
        self.addCleanup(self.operator._task.cancel)
        waiting = asyncio.ensure_future(self.operator.wait_for(lambda: bool(samples)))
        while not self.operator._waiting:
            await asyncio.sleep(0)
        self.operator.received(self.connection, struct.pack(">BBHId", 2, 0, 0, 1, 0.0) + b"x")  # type: ignore[arg-type]
        await asyncio.wait_for(waiting, WAIT_LIMIT_S)
        self.assertEqual(samples, [b"x"])

    async def test_a_lifetime_out_of_range_is_refused(self) -> None:
        for ttl_ms in (0, 65_536):
            with self.assertRaises(ValueError):
                self.operator.control({}, ttl_ms=ttl_ms)


class PolicyTest(unittest.IsolatedAsyncioTestCase):
    HOLDER = {"participant_id": "p", "kind": "policy", "user_id": "me", "name": "Stacker", "since": "2026-11-20T09:31:00.000Z"}

    def policy(self, **options: Any) -> Policy:
        policy = Policy("http://hub", "t", "s", data_channel=False, **options)
        self.told: list[Any] = []
        policy.on_hold = lambda lease: self.told.append(("hold", lease.epoch, lease.command))  # type: ignore[method-assign]
        policy.on_yield = lambda lease: self.told.append(("yield", lease.epoch))  # type: ignore[method-assign]
        policy.on_dropped = lambda seq, why: self.told.append((seq, why))  # type: ignore[method-assign]
        policy.on_error = self.told.append  # type: ignore[method-assign]
        policy._connection = FakeConnection()  # type: ignore[assignment]
        return policy

    def lease(self, policy: Policy, epoch: int, you: bool, **fields: Any) -> None:
        policy.handle("lease", {"type": "lease", "epoch": epoch, "holder": self.HOLDER if you else None, "you": you, **fields})

    async def test_it_sends_commands_while_it_holds_control(self) -> None:
        policy = self.policy()
        self.lease(policy, 1, False)
        self.assertIsNone(policy.control({}))
        self.lease(policy, 2, True, last={"command": {"v": 1}, "telemetry": {"x": 2}})
        self.assertEqual(policy.control({}), 1)
        self.assertEqual(policy.lease and policy.lease.telemetry, {"x": 2})
        self.lease(policy, 3, False)
        self.assertIsNone(policy.control_binary(b"x"))
        self.assertEqual(self.told, [("hold", 2, {"v": 1}), ("yield", 3)])

    async def test_a_shadow_sends_commands_always_and_hears_only_of_other_drops(self) -> None:
        policy = self.policy(shadow=True)
        self.lease(policy, 1, False)
        self.assertEqual([policy.control({}), policy.control({})], [1, 2])
        policy.handle("dropped", {"type": "dropped", "seq": 1, "why": "not_holder"})
        policy.handle("dropped", {"type": "dropped", "seq": 2, "why": "latency"})
        self.assertEqual(self.told, [(2, "latency")])

    async def test_what_was_decided_before_control_came_back_is_not_sent(self) -> None:
        policy = self.policy(shadow=True)
        policy._task = asyncio.ensure_future(asyncio.Event().wait())  # type: ignore[arg-type]
        self.addCleanup(policy._task.cancel)
        decisions: list[Any] = [{"n": 1}, {"n": 2}, None]

        async def decide() -> Any:
            if len(decisions) == 3:
                self.lease(policy, 2, True)
            return decisions.pop(0)

        await asyncio.wait_for(policy.drive(decide), WAIT_LIMIT_S)
        frames = policy._connection.frames  # type: ignore[union-attr]
        self.assertEqual(["\"n\":2" in frame for frame in frames], [True])

    async def test_it_finds_that_it_holds_control_and_accepts_offers_to_it(self) -> None:
        policy, acts = self.policy(), []
        found: dict[str, Any] = {"epoch": 1, "holder": self.HOLDER, "requests": []}
        policy.api.get_auth_profile = lambda: {"id": "me"}
        policy.api.get_session_control = lambda **_: found
        policy.api.post_session_control = lambda **fields: acts.append(fields)
        await policy._look()
        self.assertTrue(policy.holds)
        self.lease(policy, 2, False)
        offers = [{"id": name, "kind": "offer", "to": to} for name, to in (("o1", "you"), ("o2", None), ("o3", "me"))]
        found["requests"] = [{"id": "r", "kind": "request", "to": None}, *offers]
        await policy._look()
        self.assertFalse(policy.holds)  # the newer frame counts
        self.assertEqual(acts, [{"id": "s", "action": "accept", "requestId": "o3"}])

        def refuse(**_: Any) -> None:
            raise ApiError(409, "control_request_closed", "it is closed")

        policy.api.post_session_control = refuse
        await policy._look()
        self.assertEqual(self.told, [("hold", 1, None), ("yield", 2)])


class TicketTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.api = Api("http://hub", "t")
        self.told: asyncio.Queue[Any] = asyncio.Queue()
        self.observer = Observer(self.api, session_id="s")
        self.observer.on_error = self.told.put_nowait  # type: ignore[method-assign]

    async def test_an_answer_that_is_no_ticket_is_told_and_does_not_end_the_link(self) -> None:
        self.api.post_session_ticket = lambda **_: b"<html>"
        connecting = asyncio.ensure_future(self.observer.connect())
        self.assertIsInstance(await self.told.get(), TypeError)
        self.assertFalse(connecting.done())
        await self.observer.close()
        with self.assertRaisesRegex(LinkEnded, "the link was closed"):
            await connecting

    async def test_the_end_of_a_link_does_not_wait_for_a_ticket(self) -> None:
        loop, release = asyncio.get_running_loop(), threading.Event()
        self.addCleanup(release.set)

        def ticket(**_: Any) -> Any:
            loop.call_soon_threadsafe(self.told.put_nowait, "asked")
            release.wait(WAIT_LIMIT_S)
            answered.append(True)

        answered: list[bool] = []
        self.api.post_session_ticket = ticket
        connecting = asyncio.ensure_future(self.observer.connect())
        await self.told.get()
        await self.observer.close()
        self.assertEqual(answered, [])
        with self.assertRaises(LinkEnded):
            await connecting
        release.set()


class HubTest(unittest.IsolatedAsyncioTestCase):
    """Follows a log of ten entries whose pages have three."""

    async def asyncSetUp(self) -> None:
        self.hub = Hub("http://hub", "t")
        self.hub._task = asyncio.ensure_future(asyncio.Event().wait())  # type: ignore[arg-type]
        self.hub._connected.set()
        self.addCleanup(self.hub._task.cancel)
        self.head = 10
        self.reads: list[int] = []
        self.hub.call = self.answer  # type: ignore[method-assign]

    async def answer(self, command: str, payload: dict[str, Any], **_: Any) -> dict[str, Any]:
        if command == "session:unwatch":
            return {}
        self.reads.append(payload["after"])
        first = payload["after"] + 1
        return {"events": [self.entry(seq) for seq in range(first, min(first + 3, self.head + 1))], "head": self.head}

    def entry(self, seq: int) -> dict[str, Any]:
        return {"session_id": "s", "seq": seq, "type": "chat.message"}

    def push(self, seq: int) -> None:
        self.hub._push(("session:watch", "s"), seq, self.entry(seq))

    async def test_pages_and_live_entries_give_each_entry_once_and_in_order(self) -> None:
        entries = self.hub.watch("s", after=2)
        seen = [(await anext(entries))["seq"] for _ in range(8)]
        self.assertEqual(seen, list(range(3, 11)))
        self.head = 14
        for seq in (11, 9, 13, 11):
            self.push(seq)
        seen = [(await anext(entries))["seq"] for _ in range(4)]
        self.assertEqual(seen, [11, 12, 13, 14])
        self.assertEqual(self.reads, [2, 5, 8, 11])

    async def test_a_reconnect_reads_what_was_missed(self) -> None:
        entries = self.hub.watch("s", after=10)
        following = asyncio.ensure_future(anext(entries))
        while not self.reads:
            await asyncio.sleep(0)
        self.head = 11
        self.hub._feeds[("session:watch", "s")].renew()
        self.assertEqual((await following)["seq"], 11)

    async def test_a_slow_reader_holds_a_bounded_number_of_entries(self) -> None:
        entries = self.hub.watch("s", after=9)
        self.assertEqual((await anext(entries))["seq"], 10)
        self.head = 5_000
        for seq in range(11, 5_001):
            self.push(seq)
        self.assertLessEqual(len(self.hub._feeds[("session:watch", "s")].items), 1_000)
        self.assertEqual([(await anext(entries))["seq"] for _ in range(20)], list(range(11, 31)))

    async def test_a_log_that_withholds_entries_is_an_error_and_not_a_loop(self) -> None:
        async def empty(*_: Any, **__: Any) -> dict[str, Any]:
            return {"events": [], "head": 5}

        self.hub.call = empty  # type: ignore[method-assign]
        with self.assertRaisesRegex(ApiError, "does not return"):
            await anext(self.hub.watch("s"))


class HttpTest(unittest.TestCase):
    """Any answer of a server, or of what stands between, is a response or an ApiError."""

    def answer_to(self, answer: bytes) -> Response:
        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                self.request.recv(65_536)
                self.request.sendall(answer)

        with socketserver.TCPServer(("127.0.0.1", 0), Handler) as server:
            serving = threading.Thread(target=server.handle_request)
            serving.start()
            try:
                return send_request("GET", f"http://127.0.0.1:{server.server_address[1]}/", limit_s=WAIT_LIMIT_S)
            finally:
                serving.join()

    def test_a_response_that_breaks_off_or_is_none_has_the_status_0(self) -> None:
        for answer in (
            b"",
            b"hello\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n123",
        ):
            with self.subTest(answer=answer), self.assertRaises(ApiError) as raised:
                self.answer_to(answer)
            self.assertEqual(raised.exception.status, 0)
        self.assertEqual(self.answer_to(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n12").content, b"12")

    def test_only_digits_are_a_pause(self) -> None:
        for text, pause_s in ((b"7", 7.0), (b"\xb2", None), (b"-1", None), (b"Fri, 01 Jan 2027 00:00:00 GMT", None)):
            with self.subTest(text=text), self.assertRaises(ApiError) as raised:
                self.answer_to(b"HTTP/1.1 503 Busy\r\nRetry-After: " + text + b"\r\nContent-Length: 0\r\n\r\n")
            self.assertEqual((raised.exception.status, raised.exception.retry_after_s), (503, pause_s))


class ApiTest(unittest.TestCase):
    def setUp(self) -> None:
        self.requests: list[tuple[str, str, Any, dict[str, str]]] = []
        self.outcomes: list[Any] = []
        for target, replacement in (("wheelhouse.rest.send_request", self.send), ("time.sleep", lambda _: None)):
            patched = mock.patch(target, replacement)
            patched.start()
            self.addCleanup(patched.stop)
        self.api = Api("http://hub/", "key")

    def send(self, method: str, url: str, *, content: Any, headers: dict[str, str], limit_s: float) -> Response:
        self.requests.append((method, url, content, headers))
        outcome = self.outcomes.pop(0) if self.outcomes else Response(200, url, {"content-type": "application/json"}, b'{"ok":true}')
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def test_arguments_become_path_query_and_body(self) -> None:
        self.assertEqual(self.api.post_session_ticket(id="a/b", part="watch"), {"ok": True})
        method, url, content, headers = self.requests[0]
        self.assertEqual((method, url, content), ("POST", "http://hub/api/sessions/a%2Fb/ticket", b'{"part": "watch"}'))
        self.assertEqual(headers["Authorization"], "Bearer key")
        self.api.get_session_counts(from_="2026-01-01")
        self.assertEqual(self.requests[1][1], "http://hub/api/session-counts?from=2026-01-01")

    def test_names_are_checked(self) -> None:
        for arguments, problem in (({"id": "1", "part": "watch", "role": "x"}, "has no role"), ({"id": "1"}, "needs part")):
            with self.assertRaisesRegex(TypeError, problem):
                self.api.post_session_ticket(**arguments)
        with self.assertRaises(AttributeError):
            self.api.get_everything()
        self.assertEqual(self.requests, [])

    def test_what_may_be_repeated_is_repeated_with_the_same_key(self) -> None:
        self.outcomes = [ApiError(503, "", "busy"), ApiError(0, "unreachable", "gone")]
        self.api.post_sessions(robotId="r")
        keys = {headers["Idempotency-Key"] for _, _, _, headers in self.requests}
        self.assertEqual((len(self.requests), len(keys)), (3, 1))

    def test_what_may_not_be_repeated_is_raised(self) -> None:
        calls: list[tuple[ApiError, Callable[[], Any]]] = [
            (ApiError(409, "conflict", "no"), lambda: self.api.post_sessions(robotId="r")),
            (ApiError(503, "", "busy"), lambda: self.api.patch_session(id="s", action="end")),
            (ApiError(429, "", "later", retry_after_s=3_600), lambda: self.api.get_session(id="s")),
        ]
        for outcome, call in calls:
            self.requests.clear()
            self.outcomes = [outcome]
            with self.assertRaises(ApiError):
                call()
            self.assertEqual(len(self.requests), 1)

    def test_a_response_that_is_no_json_is_an_error_of_the_api(self) -> None:
        self.outcomes = [Response(200, "", {"content-type": "application/json"}, b"<html>")]
        with self.assertRaisesRegex(ApiError, "no JSON"):
            self.api.get_session(id="s")

    def test_every_operation_has_a_name_of_its_own_and_help(self) -> None:
        self.assertGreater(len(operations()), 100)
        for name in operations():
            self.assertTrue(getattr(self.api, name).__doc__)

    def test_a_list_is_read_to_its_end(self) -> None:
        entries = every_entry(lambda last, count: [count, count + 1] if count < 4 else [])
        self.assertEqual(list(entries), [0, 1, 2, 3])


if __name__ == "__main__":
    unittest.main()
