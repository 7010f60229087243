"""Benchmarks, one command each: they print JSON, and are not part of the test suite."""
