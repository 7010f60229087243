"""Work beside the caller's own."""

from __future__ import annotations

import threading

import pytest

from qa.ahead import Ahead


def test_it_goes_on_beside_the_caller() -> None:
    """Begun at once, in another thread; the result is there as often as it is asked for."""
    begun, may_end = threading.Event(), threading.Event()

    def work() -> int:
        begun.set()
        assert may_end.wait(10)
        return threading.get_ident()

    ahead = Ahead(work)
    assert begun.wait(10)
    may_end.set()
    assert ahead.result() == ahead.result() != threading.get_ident()


def test_what_goes_wrong_is_raised_where_the_result_is_asked_for() -> None:
    ahead = Ahead(lambda: 1 // 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            ahead.result()
