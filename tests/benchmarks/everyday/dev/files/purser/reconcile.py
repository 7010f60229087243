"""Nightly comparison of our ledger with the settlement file of the processor.

Runs at 04:15 by systemd timer on heron-3. Palisade puts the file on their SFTP at about
03:30; if it is missing we wait until 05:45 and then raise the alarm. We do not try
again after that, somebody has to start it by hand:

    python -m purser.reconcile --date 2026-06-03 --force

History: first version by Callum (2024), compared sums per day only, and so missed two
errors that cancelled each other out. This version compares line by line.
"""
from __future__ import annotations

import csv
import datetime as dt
from dataclasses import dataclass
from pathlib import Path

TOLERANCE_CENTS = 2  # Palisade rounds half up, we round half even
MAX_OPEN_DAYS = 3


@dataclass
class Line:
    ref: str
    cents: int
    day: dt.date
    kind: str  # charge | refund | chargeback | fee


def read_settlement(path: Path) -> list[Line]:
    """Read the processor's CSV.

    Since June 2026 the file has two more columns (scheme, region) in the middle, so we
    go by column name and not by position. The file is latin-1, whatever their manual says.
    Lines of kind "adj" are adjustments of Palisade's own fee, skipped here and checked
    by Sanne once a quarter.
    """
    out = []
    with path.open(encoding="latin-1", newline="") as fh:
        for row in csv.DictReader(fh, delimiter=";"):
            if row["kind"] == "adj":
                continue
            out.append(
                Line(row["merchant_ref"], int(row["amount_minor"]),
                     dt.date.fromisoformat(row["booked"]), row["kind"])
            )
    return out


def compare(ours: list[Line], theirs: list[Line]) -> dict[str, list[Line]]:
    """Return differences in four heaps: missing, extra, amount, late.

    "late" means: we have it, they do not, and it is younger than MAX_OPEN_DAYS. Charges made
    after 22:00 regularly show up a day later in their file, so that is no error.
    """
    by_ref = {l.ref: l for l in theirs}
    heaps: dict[str, list[Line]] = {"missing": [], "extra": [], "amount": [], "late": []}
    today = dt.date.today()
    for line in ours:
        other = by_ref.pop(line.ref, None)
        if other is None:
            young = (today - line.day).days < MAX_OPEN_DAYS
            heaps["late" if young else "missing"].append(line)
        elif abs(other.cents - line.cents) > TOLERANCE_CENTS:
            heaps["amount"].append(line)
    heaps["extra"].extend(by_ref.values())
    return heaps


def report(heaps: dict[str, list[Line]]) -> str:
    """One text for #money-alerts. Never put card holder names in it."""
    return "\n".join(f"{k}: {len(v)}" for k, v in heaps.items() if v) or "all fine"

# TODO(ines): chargebacks are compared by reference, but Palisade gives a chargeback a new
# reference. Every one of them shows up as "extra". Priya knows, 3-4 per week, by hand.
