"""Marks for tests that need certain features of the operating system."""

from __future__ import annotations

import os
import sys

import pytest

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
needs_limits = pytest.mark.skipif(sys.platform == "win32", reason="needs limits of the system")
needs_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
