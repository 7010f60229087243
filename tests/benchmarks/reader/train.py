"""Train the reader; it can be stopped at any time, and the same command resumes from the last checkpoint.

    python -m tests.benchmarks.reader.train WORK --from SHIPPED.safetensors --steps 9300

The learning rate rises during the first steps, and then falls linearly to zero at the last.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch.nn import functional

from tests.benchmarks.common import path_parser

from .batches import Batch, Packed, batches, load, take
from .evaluate import held_out
from .model import Output, load_reader, new_reader

# Weights of the losses: of the answer's span, of whether there is an answer, of the relevance of a passage, alone and
# compared with other passages for the same question, and of a near miss against the question that it was made from.
SPAN, ANSWERED, RELEVANT, RANKED, PAIRED = 1.0, 0.5, 0.2, 0.5, 0.5
# Weight of examples without an answer in the span loss.
NO_SPAN = 0.5
BATCH = 32
WARMUP_STEPS = 200
# Steps between measurements.
MEASURE_STEPS = 500
CHECKPOINT_SECONDS = 540
DEV_EXAMPLES = 896


def losses(output: Output, batch: Batch) -> torch.Tensor:
    """The weighted loss of a batch."""
    group, _, _, start, end, answered, relevant = batch.label.unbind(1)
    # If the passage answers but its span is not known, the span loss ignores it.
    has_span = ((start >= 0) | (answered == 0)).float()
    spans = functional.cross_entropy(output.start, start.clamp(min=0), reduction="none")
    spans = (spans + functional.cross_entropy(output.end, end.clamp(min=0), reduction="none")) / 2
    weight = has_span * torch.where(answered == 1, 1.0, NO_SPAN)
    span_loss = (spans * weight).sum() / weight.sum().clamp(min=1)
    answered_loss = functional.binary_cross_entropy_with_logits(output.answered, answered.float())
    labelled = (relevant >= 0).float()
    target = relevant.clamp(min=0).float()
    relevant_losses = functional.binary_cross_entropy_with_logits(output.relevant, target, reduction="none")
    relevant_loss = (relevant_losses * labelled).sum() / labelled.sum().clamp(min=1)
    ranked_loss = ranking_loss(output.relevant, group, relevant)
    near_miss = (answered == 0) & (relevant < 0)
    margins = (output.answered, span_margin(output))
    paired_loss = torch.stack([pair_loss(margin, group, answered == 1, near_miss) for margin in margins]).mean()
    return (
        SPAN * span_loss
        + ANSWERED * answered_loss
        + RELEVANT * relevant_loss
        + RANKED * ranked_loss
        + PAIRED * paired_loss
    )


def span_margin(output: Output) -> torch.Tensor:
    """Log odds that an answer begins somewhere, and that it ends somewhere, averaged; `(n,)`."""
    return torch.stack([ends[:, 1:].logsumexp(1) - ends[:, 0] for ends in (output.start, output.end)]).mean(0)


def pair_loss(
    scores: torch.Tensor, group: torch.Tensor, answered: torch.Tensor, near_miss: torch.Tensor
) -> torch.Tensor:
    """Logistic loss of each near miss against each answered question of its group; 0 without pairs."""
    pairs = (group[:, None] == group[None]) & answered[:, None] & near_miss[None]
    losses_of_pairs = functional.softplus(scores[None] - scores[:, None])
    return (losses_of_pairs * pairs).sum() / pairs.sum().clamp(min=1)


def ranking_loss(scores: torch.Tensor, group: torch.Tensor, relevant: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of the answering passage among those with the same question; 0 if none has competitors."""
    labelled = relevant >= 0
    comparable = (group[:, None] == group[None]) & labelled[None] & labelled[:, None]
    log_total = scores[None].expand_as(comparable).masked_fill(~comparable, -1e4).logsumexp(dim=1)
    has_rivals = (comparable & (relevant[None] == 0)).any(dim=1) & (relevant == 1)
    return ((log_total - scores) * has_rivals).sum() / has_rivals.sum().clamp(min=1)


class Run:
    """One training run: its weights, optimiser, progress and folder."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.work: Path = options.work
        self.folder = self.work / options.run
        self.folder.mkdir(parents=True, exist_ok=True)
        self.device = torch.device(options.device)
        self.step = 0
        self.reader = (new_reader() if options.start is None else load_reader(options.start)).to(self.device).train()
        self.reader.dropout = options.dropout
        self.reader.dtype = torch.float32 if options.single else torch.bfloat16
        heads = [*self.reader.span.parameters(), *self.reader.judge.parameters()]
        self.rates = (options.rate, 3 * options.rate)
        groups = [{"params": [*self.reader.bert.encoder.parameters()]}, {"params": heads}]
        self.optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
        last = self.folder / "last.pt"
        if last.exists():
            state = torch.load(last, map_location=self.device, weights_only=True)
            self.reader.load_state_dict(state["reader"], strict=False)
            self.optimiser.load_state_dict(state["optimiser"])
            self.step = state["step"]
        self._saved = time.monotonic()

    def save(self, name: str) -> None:
        """Write a checkpoint atomically."""
        partial_file = self.folder / f"{name}.part"
        state = {"reader": self.reader.trained(), "optimiser": self.optimiser.state_dict(), "step": self.step}
        torch.save(state, partial_file)
        partial_file.replace(self.folder / name)
        self._saved = time.monotonic()

    def log(self, **row: object) -> None:
        """Add a line to the run's log."""
        line = json.dumps({"time": time.strftime("%H:%M:%S"), "step": self.step, **row})
        print(line, flush=True)
        with (self.folder / "log.jsonl").open("a", encoding="utf-8") as out:
            out.write(line + "\n")

    def update(self, batch: Batch) -> float:
        """Update the weights once, and return the loss."""
        factor = min(1.0, (self.step + 1) / WARMUP_STEPS) * (1 - self.step / self.options.steps)
        for group, rate in zip(self.optimiser.param_groups, self.rates, strict=True):
            group["lr"] = rate * factor
        loss = losses(self.reader.read(batch), batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.reader.parameters(), 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        return float(loss.detach())

    def _batches(self) -> Iterator[tuple[Packed, Sequence[int]]]:
        """The rows of each batch, pass after pass."""
        files = sorted(self.work.glob(self.options.examples))
        for number in itertools.count():
            packed = load(files[number % len(files)])
            for rows in batches(packed, size=BATCH, seed=self.options.seed + number):
                yield packed, rows

    def train(self) -> None:
        """Train; measure and write checkpoints at intervals."""
        recent: deque[float] = deque(maxlen=200)
        for packed, rows in itertools.islice(self._batches(), self.step, self.options.steps):
            recent.append(self.update(take(packed, rows).to(self.device)))
            self.step += 1
            if self.step % 100 == 0:
                self.log(loss=round(statistics.fmean(recent), 4))
            if self.step % MEASURE_STEPS == 0 or self.step == self.options.steps:
                self.log(dev={name: round(value, 4) for name, value in self._measure().items()})
            if time.monotonic() - self._saved > CHECKPOINT_SECONDS:
                self.save("last.pt")
        self.save("final.pt")

    def _measure(self) -> dict[str, float]:
        self.reader.eval()
        measures = held_out(self.reader, self.work, DEV_EXAMPLES)
        self.reader.train()
        return measures


def main() -> None:
    """Run the command line."""
    parser = path_parser(__doc__, "work")
    parser.add_argument("--steps", type=int, required=True, help=f"batches of {BATCH}")
    parser.add_argument("--run", default="run-1", help="folder of checkpoints in WORK")
    parser.add_argument("--examples", default="examples-[0-9].npz", help="pattern of example files, a pass each")
    parser.add_argument("--from", dest="start", type=Path, help="checkpoint or exported weights to start from")
    parser.add_argument("--seed", type=int, default=0, help="order of the batches")
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--dropout", type=float, default=0.1, help="of the output of each layer's blocks")
    parser.add_argument("--single", action="store_true", help="single precision, for processors without bfloat16")
    options = parser.parse_args()
    Run(options).train()


if __name__ == "__main__":
    main()
