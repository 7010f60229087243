"""What the reader tells of one passage."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

# Tokens of the longest answer.
_LONGEST = 30
# What an answer begins and what it ends with are answers by themselves that are this much less likely at most: logits.
_NEARLY = 4.0
# Logit of what cannot be.
_NEVER = -1e4


@dataclass(frozen=True)
class Reading:
    """One passage, read with a question.

    Attributes:
        answered: Logit: the passage answers the question.
        relevant: Logit: it is the passage to read, among others.
        start: `(t,)` logits, for each token of the text proper: the answer begins here.
        end: `(t,)` logits: it ends here.
        none: The logits of start and end added, for that there is no answer.
        spans: `(t, 2) int32`, the characters of the text proper that each token covers, end exclusive; (-1, -1) for the
            name of a column that the reader is told again: no answer is there, nor goes on beyond it.
    """

    answered: float
    relevant: float
    start: Floats
    end: Floats
    none: float
    spans: npt.NDArray[np.int32]

    @cached_property
    def margin(self) -> float:
        """How much likelier the best answer is than none: the mean of the differences of start and of end, logits."""
        return float(self._pairs.max() - self.none) / 2 if self._pairs.size else -float("inf")

    def best(self, start: int, end: int) -> tuple[int, int] | None:
        """Characters of the likeliest answer inside a stretch of the text proper, end exclusive."""
        inside = np.flatnonzero((self.spans[:, 0] >= start) & (self.spans[:, 1] <= end))
        if not inside.size:
            return None
        pairs = self._pairs[inside[0] : inside[-1] + 1, inside[0] : inside[-1] + 1]
        first, last = divmod(int(pairs.argmax()), len(pairs))
        return int(self.spans[inside[0] + first, 0]), int(self.spans[inside[0] + last, 1])

    def halves(self, start: int, end: int) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """Two answers that the best inside a stretch begins and ends with, each nearly as likely; the likelier first.

        As start and end are told apart, the best answer may begin with one candidate and end with another.
        """
        inside = np.flatnonzero((self.spans[:, 0] >= start) & (self.spans[:, 1] <= end))
        if not inside.size:
            return None
        pairs = self._pairs[inside[0] : inside[-1] + 1, inside[0] : inside[-1] + 1]
        first, last = divmod(int(pairs.argmax()), len(pairs))
        begins, ends = pairs[first, first:last], pairs[first + 1 : last + 1, last]
        if not begins.size:
            return None
        weaker = np.minimum(np.maximum.accumulate(begins), np.maximum.accumulate(ends[::-1])[::-1])
        cut = int(weaker.argmax())
        if weaker[cut] < pairs[first, last] - _NEARLY:
            return None
        tokens = [(first, first + int(begins[: cut + 1].argmax())), (first + 1 + cut + int(ends[cut:].argmax()), last)]
        tokens.sort(key=lambda one: -pairs[one])
        one, other = [(int(self.spans[inside[0] + a, 0]), int(self.spans[inside[0] + b, 1])) for a, b in tokens]
        return one, other

    def share(self, start: int, end: int) -> float:
        """The probability in [0, 1] that the answer, if there is one, begins and ends inside these characters."""
        inside = (self.spans[:, 0] >= start) & (self.spans[:, 1] <= end)
        return float(self._chances[inside].sum()) if inside.any() else 0.0

    @cached_property
    def _pairs(self) -> Floats:
        """`(t, t)`, the logits of each answer by its first and last token."""
        pairs: Floats = self.start[:, np.newaxis] + self.end[np.newaxis]
        impossible = np.tril(np.ones_like(pairs), -1) + np.triu(np.ones_like(pairs), _LONGEST)
        said_again = self.spans[:, 0] < 0
        cell = np.cumsum(said_again)
        pairs[(impossible > 0) | (cell[:, np.newaxis] != cell) | said_again | said_again[:, np.newaxis]] = -np.inf
        return pairs

    @cached_property
    def _chances(self) -> Floats:
        """`(t,)`, the mean of the probabilities that an answer begins and that it ends at each token."""
        said_again = np.where(self.spans[:, 0] < 0, _NEVER, np.float32(0)).astype(np.float32)
        chances: Floats = (_softmax(self.start + said_again) + _softmax(self.end + said_again)) / np.float32(2)
        return chances


def _softmax(values: Floats) -> Floats:
    powers = np.exp(values - values.max())
    return np.asarray(powers / powers.sum(), dtype=np.float32)
