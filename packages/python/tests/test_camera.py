"""Which way a camera takes to the platform, and its end."""
from __future__ import annotations

import sys
import unittest
from unittest import mock

from wheelhouse import ApiError
from wheelhouse.camera import Camera, Relays, turn_servers_of

WAIT_LIMIT_S = 60.0
"""Only ends a hang."""
LINKS = (
    '<turn:turn.example:3478?transport=udp>; rel="ice-server"; username="9:r"; credential="a+b/c="; credential-type="password", '
    '<turns:turn.example:443?transport=tcp>; rel="ice-server"; username="9:r"; credential="d"; credential-type="password"'
)
UDP = ("turn:turn.example:3478?transport=udp", "9:r", "a+b/c=")
TLS = ("turns:turn.example:443?transport=tcp", "9:r", "d")


class TurnServers(unittest.TestCase):
    def test_link_headers_name_servers_with_credentials(self) -> None:
        self.assertEqual(turn_servers_of(LINKS), [UDP, TLS])

    def test_other_links_are_no_servers(self) -> None:
        for links in ("", "<https://docs.example>; rel=help", '<turn:a.example>; rel="ice-server"', '<turn:a>; rel="next"; username="a"; credential="b"'):
            self.assertEqual(turn_servers_of(links), [], links)

    def test_each_way_is_tried_and_the_one_that_works_is_kept(self) -> None:
        relays = Relays()
        self.assertIsNone(relays.current)
        relays.failed()
        self.assertIsNone(relays.current, "no server is known")
        relays.update(LINKS)
        self.assertIsNone(relays.current, "the first way is the direct one")
        ways = []
        for _ in range(4):
            relays.failed()
            ways.append(relays.current)
        self.assertEqual(ways, [UDP, TLS, None, UDP])
        relays.failed()
        newer = LINKS.replace("9:r", "10:r")
        relays.update(newer)
        self.assertEqual(relays.current, ("turns:turn.example:443?transport=tcp", "10:r", "d"))

    def test_servers_that_are_gone_are_not_used(self) -> None:
        relays = Relays()
        relays.update(LINKS)
        relays.failed()
        relays.failed()
        relays.update("")
        self.assertIsNone(relays.current)
        relays.failed()
        self.assertIsNone(relays.current)


class CameraTest(unittest.TestCase):
    def test_the_source_of_a_camera_that_was_refused_is_not_read_any_more(self) -> None:
        errors: list[BaseException] = []
        with mock.patch.dict(sys.modules, {"aiortc": mock.Mock(), "av": mock.Mock()}):
            camera = Camera("front", lambda: None, address=lambda: ("http://hub", "t"), on_error=errors.append)

        async def refuse(url: str, token: str) -> None:
            raise ApiError(403, "", "not yours")

        self.addCleanup(camera.close)
        camera._publish = refuse  # type: ignore[method-assign]
        for thread in camera.start()._threads:
            thread.join(WAIT_LIMIT_S)
            self.assertFalse(thread.is_alive())
        self.assertEqual((camera.state, [type(error) for error in errors]), ("closed", [ApiError]))


if __name__ == "__main__":
    unittest.main()
