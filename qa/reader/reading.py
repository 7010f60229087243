"""The reader's result for one passage."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

# The most tokens that an answer has.
_LONGEST = 30
# Logit of something impossible.
_NEVER = -1e4
_HALF = np.float32(0.5)


@dataclass(frozen=True)
class Reading:
    """One passage, read with a question.

    Attributes:
        answered: Logit that the passage answers the question.
        relevant: Logit that it is the passage to read, among others.
        start: `(t,)` logits that the answer begins at each token of the text.
        end: `(t,)` logits that it ends there.
        none: The sum of the start and end logits for "no answer".
        spans: `(t, 2) int32`, the characters of the text that each token covers, end exclusive; (-1, -1) for the
            inserted name of a column, which no answer contains or crosses.
    """

    answered: float
    relevant: float
    start: Floats
    end: Floats
    none: float
    spans: npt.NDArray[np.int32]

    def mean_with(self, other: Reading) -> Reading:
        """Return the mean of two readings of the same text; this one if they do not have the same tokens."""
        if not np.array_equal(self.spans, other.spans):
            return self
        return Reading(
            answered=(self.answered + other.answered) / 2,
            relevant=(self.relevant + other.relevant) / 2,
            start=(self.start + other.start) * _HALF,
            end=(self.end + other.end) * _HALF,
            none=(self.none + other.none) / 2,
            spans=self.spans,
        )

    @cached_property
    def margin(self) -> float:
        """How much likelier the best answer is than none: the mean difference of the start and end logits."""
        return float(self._pairs.max() - self.none) / 2 if self._pairs.size else -float("inf")

    @cached_property
    def spread(self) -> float:
        """Entropy in nats of where the answer begins and ends: 0 if at one token, 1.6 if at any of five."""
        chances = self._chances.astype(np.float64) if self.spans.size else np.zeros(1)
        return float(-(chances * np.log(chances + 1e-9)).sum())

    def best(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the characters of the likeliest answer inside a span of the text, end exclusive, if there is one."""
        inside = np.flatnonzero((self.spans[:, 0] >= start) & (self.spans[:, 1] <= end))
        if not inside.size:
            return None
        pairs = self._pairs[inside[0] : inside[-1] + 1, inside[0] : inside[-1] + 1]
        first, last = divmod(int(pairs.argmax()), len(pairs))
        return int(self.spans[inside[0] + first, 0]), int(self.spans[inside[0] + last, 1])

    def share(self, start: int, end: int) -> float:
        """Return the probability in [0, 1] that the answer, if there is one, begins and ends inside a span."""
        inside = (self.spans[:, 0] >= start) & (self.spans[:, 1] <= end)
        return float(self._chances[inside].sum()) if inside.any() else 0.0

    @cached_property
    def _pairs(self) -> Floats:
        """`(t, t)`, the logits of each answer by its first and last token."""
        pairs: Floats = self.start[:, np.newaxis] + self.end[np.newaxis]
        impossible = np.tril(np.ones_like(pairs), -1) + np.triu(np.ones_like(pairs), _LONGEST)
        is_inserted = self.spans[:, 0] < 0
        cell = np.cumsum(is_inserted)
        pairs[(impossible > 0) | (cell[:, np.newaxis] != cell) | is_inserted | is_inserted[:, np.newaxis]] = -np.inf
        return pairs

    @cached_property
    def _chances(self) -> Floats:
        """`(t,)`, the mean of the probabilities that an answer begins and that it ends at each token."""
        mask = np.where(self.spans[:, 0] < 0, _NEVER, np.float32(0)).astype(np.float32)
        chances: Floats = (_softmax(self.start + mask) + _softmax(self.end + mask)) / np.float32(2)
        return chances


def _softmax(values: Floats) -> Floats:
    powers = np.exp(values - values.max())
    return np.asarray(powers / powers.sum(), dtype=np.float32)
