"""Measurements, one command each; they print JSON and are no part of the test suite."""
