"""Train the reader; it can be stopped at any time, and the same command resumes from the last checkpoint.

    python -m tests.benchmarks.reader.train WORK --until 05:50

The learning rate rises, stays constant, and falls to zero in a cool-down, which begins in time for `--until`, or when a
file `cooldown` appears in the run's folder. `stable.pt` is the state before the cool-down: with `--from stable.pt
--run NAME` another run continues from it at the full rate.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import deque
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from qa.evaluation import metrics
from tests.benchmarks.common import path_parser

from .batches import Batch, Packed, batches, load, take
from .model import Output, Reader, best_spans, load_reader, new_reader

# Weights of the losses: the answer's span (or none), whether there is an answer, the relevance of a passage alone and
# compared with others for the same question, and a near miss scoring lower than the question it was made from.
SPAN, ANSWERED, RELEVANT, RANKED, PAIRED = 1.0, 0.5, 0.2, 0.5, 0.5
# Weight of examples without an answer in the span loss.
NO_SPAN = 0.5
CHECKPOINT_SECONDS = 540
# The cool-down begins automatically only in this many seconds before `--until`.
LAST_SECONDS = 900
DEV_EXAMPLES = 896
LONGEST = 30


@dataclass(slots=True)
class State:
    """The progress of a run."""

    step: int = 0
    examples: int = 0
    pass_number: int = 0
    batch: int = 0
    cooldown_from: int = -1
    cooldown_steps: int = 0


def losses(output: Output, batch: Batch) -> torch.Tensor:
    """The weighted loss of a batch."""
    group, _, _, start, end, answered, relevant = batch.label.unbind(1)
    # If the passage answers but its span is not known, the span loss ignores it.
    has_span = ((start >= 0) | (answered == 0)).float()
    spans = functional.cross_entropy(output.start, start.clamp(min=0), reduction="none")
    spans = (spans + functional.cross_entropy(output.end, end.clamp(min=0), reduction="none")) / 2
    weight = has_span * torch.where(answered == 1, 1.0, NO_SPAN)
    span = (spans * weight).sum() / weight.sum().clamp(min=1)
    judged = functional.binary_cross_entropy_with_logits(output.answered, answered.float())
    known = (relevant >= 0).float()
    alone = functional.binary_cross_entropy_with_logits(
        output.relevant, relevant.clamp(min=0).float(), reduction="none"
    )
    ranked = ranking_loss(output.relevant, group, relevant)
    near = (answered == 0) & (relevant < 0)
    paired = pair_loss(output.answered, group, answered == 1, near)
    paired = paired + pair_loss(span_odds(output), group, answered == 1, near)
    return (
        SPAN * span
        + ANSWERED * judged
        + RELEVANT * (alone * known).sum() / known.sum().clamp(min=1)
        + RANKED * ranked
        + PAIRED * paired / 2
    )


def span_odds(output: Output) -> torch.Tensor:
    """The log odds that an answer begins and that it ends somewhere, averaged."""
    ends = (logits.float() for logits in (output.start, output.end))
    return torch.stack([logits[:, 1:].logsumexp(1) - logits[:, 0] for logits in ends]).mean(0)


def pair_loss(scores: torch.Tensor, group: torch.Tensor, right: torch.Tensor, near: torch.Tensor) -> torch.Tensor:
    """Logistic loss of each near miss against each answered question of its group; 0 without pairs."""
    pairs = (group[:, None] == group[None]) & right[:, None] & near[None]
    above = functional.softplus(scores[None].float() - scores[:, None].float())
    return (above * pairs).sum() / pairs.sum().clamp(min=1)


def ranking_loss(scores: torch.Tensor, group: torch.Tensor, relevant: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of the answering passage among those with the same question; 0 if none has competitors."""
    known = relevant >= 0
    same = (group[:, None] == group[None]) & known[None] & known[:, None]
    among = scores[None].expand_as(same).masked_fill(~same, -1e4).logsumexp(dim=1)
    contested = (same & (relevant[None] == 0)).any(dim=1) & (relevant == 1)
    return ((among - scores) * contested).sum() / contested.sum().clamp(min=1)


def auroc(positive: np.ndarray[Any, Any], negative: np.ndarray[Any, Any]) -> float:
    """Area under the ROC curve; NaN without both kinds."""
    area = metrics.auroc(positive, negative)
    return float("nan") if area is None else area


@torch.no_grad()  # type: ignore[untyped-decorator]
def develop(reader: Reader, dev: Packed, device: torch.device, *, half: bool) -> dict[str, float]:
    """Token F1, AUROC of answered against near misses and hard negatives, and how often the right passage is first."""
    reader.eval()
    overlap, answered, margin, relevant = [], [], [], []
    label = dev.label[:DEV_EXAMPLES]
    for begin in range(0, len(label), 32):
        batch = take(dev, range(begin, min(begin + 32, len(label)))).to(device)
        with torch.autocast(device.type, torch.bfloat16, enabled=half):
            output = reader.read(batch)
        spans, score = best_spans(output.start, output.end, longest=LONGEST)
        gold = batch.label[:, 3:5]
        shared = (torch.minimum(spans, gold)[:, 1] - torch.maximum(spans, gold)[:, 0] + 1).clamp(min=0)
        overlap.append(2 * shared / (spans[:, 1] - spans[:, 0] + gold[:, 1] - gold[:, 0] + 2))
        answered.append(output.answered)
        margin.append(score)
        relevant.append(output.relevant)
    parts = (overlap, answered, margin, relevant)
    f1, judged, span, rank = (torch.cat(part).float().cpu().numpy() for part in parts)
    right, near = label[:, 5] == 1, label[:, 6] < 0
    first = []
    for group in np.unique(label[:, 0]):
        mine = (label[:, 0] == group) & (label[:, 6] >= 0)
        if mine.sum() > 1 and right[mine].any():
            first.append(bool(right[mine][rank[mine].argmax()]))
    reader.train()
    return {
        "f1": float(f1[right].mean()),
        "auroc_near": auroc(judged[right], judged[near]),
        "auroc_near_span": auroc(span[right], span[near]),
        "auroc_hard": auroc(judged[right], judged[(label[:, 5] == 0) & ~near]),
        "first": float(np.mean(first)),
    }


class Run:
    """One training run: its weights, optimiser, progress and folder."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.work: Path = options.work
        self.folder = self.work / options.run
        self.folder.mkdir(parents=True, exist_ok=True)
        self.device = torch.device(options.device)
        self.half = not options.single
        self.reader = new_reader(options.seed, dropout=options.dropout).to(self.device)
        for layer in self.reader.bert.encoder.layer[: options.frozen]:
            layer.requires_grad_(False)
        if options.compile:
            self.reader.bert.encoder.compile(dynamic=True)
        heads = [*self.reader.span.parameters(), *self.reader.judge.parameters()]
        layers = [value for value in self.reader.bert.encoder.parameters() if value.requires_grad]
        self.rates = (options.rate, 3 * options.rate)
        groups = [{"params": layers, "lr": self.rates[0]}, {"params": heads, "lr": self.rates[1]}]
        self.optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
        self.state = State()
        last = self.folder / "last.pt"
        if last.exists():
            self._resume(last)
        elif options.start is not None:
            if options.start.suffix == ".safetensors":
                self.reader.load_state_dict(load_reader(options.start).state_dict())
            else:
                self._resume(options.start)
            # The examples may differ, so the first pass starts over.
            self.state.cooldown_from, self.state.pass_number, self.state.batch = -1, 0, 0
        self._saved = time.monotonic()
        self._times: deque[tuple[float, int]] = deque(maxlen=200)

    def _resume(self, file: Path) -> None:
        saved = torch.load(file, map_location=self.device, weights_only=True)
        self.reader.load_state_dict(saved["reader"], strict=False)
        self.optimiser.load_state_dict(saved["optimiser"])
        self.state = State(**saved["state"])
        print(f"resuming from {file}: {self.state}", flush=True)

    def save(self, name: str) -> None:
        """Write a checkpoint atomically."""
        part = self.folder / f"{name}.part"
        saved = {"reader": self.reader.trained(), "optimiser": self.optimiser.state_dict(), "state": asdict(self.state)}
        torch.save(saved, part)
        part.replace(self.folder / name)
        self._saved = time.monotonic()

    def log(self, **row: object) -> None:
        """Add a line to the run's log."""
        line = json.dumps({"time": time.strftime("%H:%M:%S"), **asdict(self.state), **row})
        print(line, flush=True)
        with (self.folder / "log.jsonl").open("a", encoding="utf-8") as out:
            out.write(line + "\n")

    def factor(self) -> float:
        """The share of the full learning rate at this step."""
        rising: float = min(1.0, (self.state.step + 1) / self.options.warmup)
        if self.state.cooldown_from < 0:
            return rising
        done = self.state.step - self.state.cooldown_from
        return rising * max(0.0, 1 - done / self.state.cooldown_steps)

    def _rate(self) -> float:
        """Recent steps per second."""
        (begun, first), (ended, last) = self._times[0], self._times[-1]
        return (last - first) / max(ended - begun, 1e-9)

    def _cool(self) -> None:
        """Begin the cool-down if it is requested, or if it would take the remaining time."""
        state, options = self.state, self.options
        if state.cooldown_from >= 0:
            return
        steps = max(options.least_cooldown, int(options.cooldown * state.step))
        due: bool = (self.folder / "cooldown").exists()
        if not due and options.until is not None and len(self._times) > 50:
            left = options.until - time.time()
            # Any earlier, the rate predicts little, because a busy machine may become free.
            due = left < LAST_SECONDS and left * self._rate() <= steps
        if due:
            self.save("stable.pt")
            state.cooldown_from, state.cooldown_steps = state.step, steps
            self.log(cooldown=steps)

    def step(self, batch: Batch) -> float:
        """Update the weights once, and return the loss."""
        factor = self.factor()
        for group, rate in zip(self.optimiser.param_groups, self.rates, strict=True):
            group["lr"] = rate * factor
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.half):
            output = self.reader.read(batch)
        loss = losses(output, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.reader.parameters(), 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        return float(loss.detach())

    def train(self) -> None:
        """Pass over all example files in turn until the run is over."""
        dev = load(self.work / "dev.npz")
        files = sorted(self.work.glob(self.options.examples))
        recent: deque[float] = deque(maxlen=200)
        while True:
            packed = load(files[self.state.pass_number % len(files)])
            order = batches(packed, size=self.options.batch, seed=self.options.seed + self.state.pass_number)
            while self.state.batch < len(order):
                rows = order[self.state.batch]
                recent.append(self.step(take(packed, rows).to(self.device)))
                self.state.step += 1
                self.state.batch += 1
                self.state.examples += len(rows)
                self._times.append((time.time(), self.state.step))
                if self._after(recent, dev):
                    return
            self.state.pass_number, self.state.batch = self.state.pass_number + 1, 0

    def _after(self, recent: deque[float], dev: Packed) -> bool:
        """Begin the cool-down, log, measure and save when due; returns whether the run is over."""
        state = self.state
        self._cool()
        over = state.cooldown_from >= 0 and state.step >= state.cooldown_from + state.cooldown_steps
        over = over or state.step >= self.options.steps
        if state.step % 100 == 0:
            loss, rate = float(np.mean(recent)), self._rate()
            self.log(loss=round(loss, 4), steps_per_second=round(rate, 3), factor=round(self.factor(), 3))
        if state.step % self.options.measure == 0 or over:
            found = develop(self.reader, dev, self.device, half=self.half)
            self.log(dev={name: round(value, 4) for name, value in found.items()})
        if over or time.monotonic() - self._saved > CHECKPOINT_SECONDS:
            self.save("final.pt" if over else "last.pt")
        return over


def _clock(text: str) -> float:
    hour, minute = map(int, text.split(":"))
    now = datetime.now()
    until = now.replace(hour=hour, minute=minute, second=0)
    return (until if until > now else until + timedelta(days=1)).timestamp()


def main() -> None:
    """Run the command line."""
    parser = path_parser(__doc__, "work")
    parser.add_argument("--run", default="run-1", help="folder of checkpoints in WORK")
    parser.add_argument("--examples", default="examples-[0-9].npz", help="pattern of example files, a pass each")
    parser.add_argument("--from", dest="start", type=Path, help="checkpoint or exported weights to start from")
    parser.add_argument("--until", type=_clock, help="time of day at which the cool-down should end, HH:MM")
    parser.add_argument("--steps", type=int, default=10**9, help="stop after this many steps, without a cool-down")
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--dropout", type=float, default=0.0, help="of the output of each layer's blocks")
    parser.add_argument("--warmup", type=int, default=200)
    parser.add_argument("--cooldown", type=float, default=0.25, help="its steps as a share of those before it")
    parser.add_argument("--least-cooldown", type=int, default=200)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--measure", type=int, default=500, help="steps between measurements")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--compile", action="store_true", help="a third faster; needs a C++ compiler")
    parser.add_argument("--single", action="store_true", help="single precision, for processors without bfloat16")
    parser.add_argument("--frozen", type=int, default=0, help="leave the first so many layers as they are")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    Run(options).train()


if __name__ == "__main__":
    main()
