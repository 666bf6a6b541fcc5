"""The check of commands, the allowed speed and the motion limiter."""
from __future__ import annotations

import json
import unittest
from pathlib import Path
from typing import Any

from wheelhouse.limits import ControlRules, MotionLimiter, limit_speed

CASES = Path(__file__).parents[2] / "protocol" / "control-limits.cases.json"
BASE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "linear_mps": {"type": "number", "minimum": -0.5, "maximum": 1, "x-speed": True},
        "wheels": {"type": "array", "maxItems": 2, "items": {"type": "number", "minimum": -2, "maximum": 2, "x-speed": True}},
        "arm": {"type": "object", "properties": {"turn": {"type": "number", "minimum": -1, "maximum": 1, "x-speed": True}}},
        "mode": {"type": "string", "enum": ["slow", "fast"]},
        "count": {"type": "integer"},
        "lamp": {"type": "boolean"},
    },
    "required": ["linear_mps"],
    "additionalProperties": False,
}


class ControlRulesTest(unittest.TestCase):
    def test_problems_name_their_place(self) -> None:
        rules = ControlRules(BASE)
        for data, problem in (
            ({"linear_mps": 1}, None),
            ({"linear_mps": 1, "count": 2.0, "lamp": True, "mode": "slow", "wheels": [1, 2]}, None),
            ([], "must be an object"),
            ({}, "linear_mps: is missing"),
            ({"linear_mps": True}, "linear_mps: must be a number"),
            ({"linear_mps": 10**400}, "linear_mps: must be a number"),
            ({"linear_mps": 1.01}, "linear_mps: must be at most 1"),
            ({"linear_mps": -0.51}, "linear_mps: must be at least -0.5"),
            ({"linear_mps": 1, "count": 2.5}, "count: must be an integer"),
            ({"linear_mps": 1, "lamp": 1}, "lamp: must be true or false"),
            ({"linear_mps": 1, "mode": "off"}, "mode: must be one of the declared texts"),
            ({"linear_mps": 1, "wheels": [1, 2, 2]}, "wheels: must have at most 2 items"),
            ({"linear_mps": 1, "wheels": [1, None]}, "wheels.1: must be a number"),
            ({"linear_mps": 1, "arm": {"turn": 3}}, "arm.turn: must be at most 1"),
            ({"linear_mps": 1, "horn": 1}, "horn: is not declared"),
        ):
            with self.subTest(data=data):
                self.assertEqual(rules.problem_of(data), problem)

    def test_what_is_no_schema_is_refused(self) -> None:
        schemas: list[Any] = [{"type": "object"}, {"type": "object", "properties": {"a": {"type": "date"}}}, {}, []]
        schemas.append({"type": "object", "properties": {"a": {"type": "number", "maximum": 10**400}}})
        for schema in schemas:
            with self.subTest(schema=schema), self.assertRaises(ValueError):
                ControlRules(schema)

    def test_speeds_are_clamped_to_the_allowed_share_of_their_bounds(self) -> None:
        data = {"linear_mps": -0.4, "wheels": [2, -0.1], "arm": {"turn": 0.3}}
        limited = limit_speed(data, 1, 0.5, ControlRules(BASE))
        self.assertEqual(limited, {"linear_mps": -0.25, "wheels": [1, -0.1], "arm": {"turn": 0.3}})
        self.assertEqual(data["linear_mps"], -0.4)

    def test_without_a_schema_the_known_speeds_are_multiplied_by_what_is_missing(self) -> None:
        data = {"linear_mps": 0.8, "linear": {"x": 1, "w": 1}, "angular": [1, 2, 3], "grip": 1}
        self.assertEqual(limit_speed(data, 0.5, 0.25, None), {"linear_mps": 0.4, "linear": {"x": 0.5, "w": 1}, "angular": [0.5, 1, 1.5], "grip": 1})
        self.assertIs(limit_speed(data, 0.25, 0.25, None), data)
        self.assertEqual(limit_speed("text", 1, 0.5, None), "text")


class MotionLimiterTest(unittest.TestCase):
    def test_the_shared_table(self) -> None:
        if not CASES.exists():
            self.skipTest("the table is not here")
        for case in json.loads(CASES.read_text("utf-8")):
            with self.subTest(case["name"]):
                rules = ControlRules(case["schema"])
                limiter = MotionLimiter(rules)
                for step in case["steps"]:
                    if step.get("reset"):
                        limiter.reset(step.get("measured"))
                    if "data" not in step:
                        continue
                    problem = rules.problem_of(step["data"])
                    if "problem" in step:
                        self.assertEqual(problem, step["problem"])
                        continue
                    self.assertIsNone(problem)
                    scale = step.get("scale", 1)
                    data = limit_speed(step["data"], 1, scale, rules)
                    self.assert_close(limiter.limit(data, scale, step["at_ms"] / 1000), step["expect"])

    def assert_close(self, value: Any, expected: Any) -> None:
        if isinstance(expected, dict):
            self.assertEqual(value.keys(), expected.keys())
            for name in expected:
                self.assert_close(value[name], expected[name])
        elif isinstance(expected, list):
            self.assertEqual(len(value), len(expected))
            for item, wanted in zip(value, expected):
                self.assert_close(item, wanted)
        elif isinstance(expected, float):
            self.assertAlmostEqual(value, expected, 6)
        else:
            self.assertEqual(value, expected)


if __name__ == "__main__":
    unittest.main()
