"""The strings that Python callers may pass instead of enum members, spelt out for type checkers and editors."""

from __future__ import annotations

from typing import Literal

ModeName = Literal["hybrid", "dense", "keyword"]
BuildModeName = Literal["incremental", "full"]
OnEmptyName = Literal["fail", "allow"]
OnLockedName = Literal["fail", "wait"]
DeviceName = Literal["auto", "cpu", "cuda", "mps"]
