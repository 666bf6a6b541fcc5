"""What a robot lets through: the check of a command against its schema, the allowed speed, and the motion limiter.

The rules are those of docs/protocol-schemas.md and docs/protocol-robot.md; gateway and robot apply the same ones.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

MAX_STEP_S = 0.1
"""After a longer gap between two commands, a value may change as much as within this time, in seconds: the robot has held its position."""
MAX_SAFE_INTEGER = 2**53 - 1
"""Largest integer that every JSON parser reads exactly."""
MAX_VECTOR_ITEMS = 3
"""Most numbers of a speed that is an array, in a command without a control schema."""
MAX_SCHEMA_DEPTH = 8
"""Deepest nesting of a declared schema. The platform allows three levels of objects."""
MIN_SPEED_SCALE = 0.05
"""The lowest share of its speed that a robot is allowed."""

Path = tuple[str, ...]
Problem = tuple[str, str]
"""The place of a problem, and its description."""
Check = Callable[[Any], "Problem | None"]

_SPEED_FIELDS = ("linear_mps", "angular_radps", "linear", "angular")
_VECTOR_FIELDS = frozenset("xyz")


def is_finite(value: object) -> bool:
    """Returns whether the value is a finite number. Booleans are no numbers."""
    # An integer of any size is finite, but isfinite raises for one that no float can hold.
    return type(value) is int and -(10**308) < value < 10**308 or type(value) is float and math.isfinite(value)


def _check_of(field: Mapping[str, Any], depth: int = 0) -> Check:
    if depth > MAX_SCHEMA_DEPTH:
        raise ValueError(f"a schema may be nested {MAX_SCHEMA_DEPTH} levels deep")
    kind = field["type"]
    if kind == "object":
        return _object_check(field, depth)
    if kind == "array":
        return _array_check(field, depth)
    if kind == "boolean":
        return lambda value: None if isinstance(value, bool) else ("", "must be true or false")
    if kind == "string":
        return _text_check(field)
    if kind in ("number", "integer"):
        return _number_check(field, kind == "integer")
    raise ValueError(f"unknown type {kind!r}")


def _number_check(field: Mapping[str, Any], integer: bool) -> Check:
    minimum, maximum = float(field.get("minimum", -math.inf)), float(field.get("maximum", math.inf))

    def check(value: Any) -> Problem | None:
        if not is_finite(value):
            return "", "must be an integer" if integer else "must be a number"
        if integer and (value != int(value) or abs(value) > MAX_SAFE_INTEGER):
            return "", "must be an integer"
        if value < minimum:
            return "", f"must be at least {minimum:g}"
        return ("", f"must be at most {maximum:g}") if value > maximum else None

    return check


def _text_check(field: Mapping[str, Any]) -> Check:
    allowed = frozenset(field["enum"]) if "enum" in field else None
    max_length = int(field.get("maxLength", MAX_SAFE_INTEGER))

    def check(value: Any) -> Problem | None:
        if not isinstance(value, str):
            return "", "must be a text"
        if len(value) > max_length:
            return "", f"must have at most {max_length} characters"
        return None if allowed is None or value in allowed else ("", "must be one of the declared texts")

    return check


def _array_check(field: Mapping[str, Any], depth: int) -> Check:
    check_item = _check_of(field["items"], depth + 1)
    least, most = int(field.get("minItems", 0)), int(field.get("maxItems", MAX_SAFE_INTEGER))

    def check(value: Any) -> Problem | None:
        if not isinstance(value, list):
            return "", "must be an array"
        if len(value) < least:
            return "", f"must have at least {least} items"
        if len(value) > most:
            return "", f"must have at most {most} items"
        for index, item in enumerate(value):
            problem = check_item(item)
            if problem:
                return _below(str(index), problem)
        return None

    return check


def _object_check(field: Mapping[str, Any], depth: int) -> Check:
    checks = {name: _check_of(inner, depth + 1) for name, inner in field["properties"].items()}
    required = list(field.get("required", ()))
    closed = field.get("additionalProperties") is False

    def check(value: Any) -> Problem | None:
        if not isinstance(value, dict):
            return "", "must be an object"
        for name in required:
            if name not in value:
                return name, "is missing"
        if closed:
            for name in value:
                if name not in checks:
                    return name[:64], "is not declared"
        for name, check_field in checks.items():
            problem = check_field(value[name]) if name in value else None
            if problem:
                return _below(name, problem)
        return None

    return check


def _below(name: str, problem: Problem) -> Problem:
    path, text = problem
    return (f"{name}.{path}" if path else name), text


class ControlRules:
    """A control schema that is ready to check commands. Compile it once, not for each command."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Raises ValueError for a schema that is none."""
        try:
            self._check = _check_of(schema)
            self._speeds = list(_speeds_of(schema["properties"], ()))
            self.motion = list(_motion_of(schema, (), ()))
        except (AttributeError, KeyError, TypeError, OverflowError) as error:
            raise ValueError(f"this is no control schema: {error!r}") from error

    def problem_of(self, data: Any) -> str | None:
        """Returns what is wrong with the data of a command; None if the schema allows it."""
        problem = self._check(data)
        return problem and ": ".join(part for part in problem if part)

    def clamp(self, data: Any, scale: float) -> Any:
        """Returns the data with its speeds clamped to `scale` times their bounds. Drops a speed that is no number."""
        for path, minimum, maximum in self._speeds:
            value = _value_at(data, path)
            if value is not _MISSING:
                data = _replaced(data, path, _clamped(value, minimum * scale, maximum * scale))
        return data


class _Missing:
    """Stands for a value that is not there."""


_MISSING = _Missing()


def _speeds_of(properties: Mapping[str, Any], above: Path) -> Iterator[tuple[Path, float, float]]:
    for name, field in properties.items():
        path = (*above, name)
        if field["type"] == "object":
            yield from _speeds_of(field["properties"], path)
        number = field["items"] if field["type"] == "array" else field
        if number.get("x-speed") is True:
            yield path, float(number["minimum"]), float(number["maximum"])


def _clamped(value: Any, low: float, high: float) -> Any:
    if isinstance(value, list):
        items = [_clamped(item, low, high) for item in value]
        return _MISSING if any(item is _MISSING for item in items) else items
    return min(max(value, low), high) if is_finite(value) else _MISSING


def _value_at(data: Any, path: Path) -> Any:
    for name in path:
        if not isinstance(data, dict) or name not in data:
            return _MISSING
        data = data[name]
    return data


def _replaced(data: Any, path: Path, value: Any) -> Any:
    """Returns a copy of the data with another value at the path, or without it. Never changes the data in place."""
    copy = dict(data)
    if len(path) > 1:
        copy[path[0]] = _replaced(copy[path[0]], path[1:], value)
    elif value is _MISSING:
        copy.pop(path[0], None)
    else:
        copy[path[0]] = value
    return copy


def limit_speed(data: Any, applied: float, scale: float, rules: ControlRules | None) -> Any:
    """Returns the data of a command, slowed down to `scale`, above 0 and up to 1.

    With `rules`, clamps its speeds, whatever was applied. Without, multiplies the speeds that are known by their names by the part that
    nobody has applied yet: `applied` is the `speed_scale` of the command, 1 without one.
    """
    if rules is not None:
        return rules.clamp(data, scale) if scale < 1 else data
    if applied <= scale or not isinstance(data, dict):
        return data
    factor = scale / applied
    return {name: _scaled(value, factor) if name in _SPEED_FIELDS else value for name, value in data.items()}


def speeds_are_readable(data: Any) -> bool:
    """Returns whether a command without a schema has speeds, and all of them can be multiplied."""
    fields = [value for name, value in data.items() if name in _SPEED_FIELDS] if isinstance(data, dict) else []
    return bool(fields) and all(_is_readable(value) for value in fields)


def _is_readable(value: Any) -> bool:
    if isinstance(value, list):
        return len(value) <= MAX_VECTOR_ITEMS and all(is_finite(item) for item in value)
    if isinstance(value, dict):
        return all(name in _VECTOR_FIELDS and is_finite(item) for name, item in value.items())
    return is_finite(value)


def _scaled(value: Any, factor: float) -> Any:
    if isinstance(value, list):
        return [_scaled_number(item, factor) for item in value] if len(value) <= MAX_VECTOR_ITEMS else value
    if isinstance(value, dict):
        return {name: _scaled_number(item, factor) if name in _VECTOR_FIELDS else item for name, item in value.items()}
    return _scaled_number(value, factor)


def _scaled_number(value: Any, factor: float) -> Any:
    return value * factor if is_finite(value) else value


def _motion_of(
    schema: Mapping[str, Any], above: Path, clutches: tuple[Path, ...]
) -> Iterator[tuple[Path, float, tuple[Path, ...]]]:
    """Yields the path, the rate per second and the clutches of each field with `x-max-rate`."""
    properties = schema["properties"]
    own = [(*above, name) for name, field in properties.items() if field.get("x-clutch") is True]
    clutches = (*clutches, *own)
    for name, field in properties.items():
        path = (*above, name)
        if field["type"] == "object":
            yield from _motion_of(field, path, clutches)
        number = field["items"] if field["type"] == "array" else field
        if "x-max-rate" in number:
            rate = float(number["x-max-rate"])
            if not rate > 0 or not math.isfinite(rate):
                raise ValueError("x-max-rate must be above 0")
            yield path, rate, clutches


class MotionLimiter:
    """Limits how fast the values of a command change (`x-max-rate`), and holds them while a clutch is released (`x-clutch`).

    It remembers the last value of each field, the *reference*. Follows the table `packages/protocol/control-limits.cases.json`.
    """

    def __init__(self, rules: ControlRules | None) -> None:
        self._motion = rules.motion if rules else []
        self._references: dict[Path, Any] = {}
        self._passed_at_s = -math.inf

    def __bool__(self) -> bool:
        """Whether there is anything to limit."""
        return bool(self._motion)

    def reset(self, measured: Any = None) -> None:
        """Forgets the references. `measured`, in the form of a command, may have new ones; without one the next value passes as it is."""
        self._passed_at_s = -math.inf
        self._references = {path: _reference(_value_at(measured, path)) for path, _, _ in self._motion}

    def limit(self, data: Any, scale: float, now_s: float) -> Any:
        """Returns the data of a command that the schema allows, with no value farther from its reference than the rate allows since the
        last command. `now_s` is the time in seconds of a monotonic clock, `scale` the share of the rates that is allowed at present."""
        step_s = min(max(now_s - self._passed_at_s, 0.0), MAX_STEP_S) * scale
        self._passed_at_s = now_s
        limited = data
        for path, rate, clutches in self._motion:
            value = _value_at(data, path)
            if value is _MISSING:
                continue  # the field keeps its reference
            reference = self._references.get(path, _MISSING)
            engaged = all(_value_at(data, clutch) is True for clutch in clutches)
            if reference is not _MISSING:
                value = _stepped(value, reference, rate * step_s if engaged else 0.0)
            elif not engaged:
                value = _MISSING
            limited = _replaced(limited, path, value)
            if value is not _MISSING:
                # Items that a shorter array does not have keep their references.
                kept = reference[len(value) :] if isinstance(value, list) and isinstance(reference, list) else []
                self._references[path] = value + kept if kept else value
        return limited


def _reference(value: Any) -> Any:
    """Returns a measured value, also of numpy, as a reference; none if it cannot be one."""
    value = value.tolist() if hasattr(value, "tolist") else list(value) if isinstance(value, tuple) else value
    numbers = value if isinstance(value, list) else [value]
    return value if all(is_finite(number) for number in numbers) else _MISSING


def _stepped(value: Any, reference: Any, step: float) -> Any:
    if isinstance(value, list):
        known = reference if isinstance(reference, list) else []
        return [_stepped(item, known[i], step) if i < len(known) else item for i, item in enumerate(value)]
    return value if isinstance(reference, list) else min(max(value, reference - step), reference + step)
