"""Documents that say of themselves that they are outdated."""

from __future__ import annotations

import pytest

from corpus.loading.load import parse
from corpus.loading.outdated import outdated_name, outdated_notice
from corpus.types import OUTDATED


@pytest.mark.parametrize(
    ("text", "notice"),
    [
        ("# 4. Queue\n\nDate: 2021\n\n## Status\n\nSuperseded by ADR 9\n\n## Context\n", "Superseded by ADR 9"),
        ("# 4\n\n## Status\n\n~~Accepted~~ 2023-05-01: superseded\n", "~~Accepted~~ 2023-05-01: superseded"),
        ("# 6. Logging\n\n**Status:** deprecated\n\nAll logs", "Status: deprecated"),
        ("| Status | Withdrawn |\n|---|---|\n| Owner | Anna |\n", "Status | Withdrawn"),
        ("# SOP 12\n\nDocument status: Superseded\nRevision: B\n", "Document status: Superseded"),
        ("---\ntitle: VPN\nstatus: obsolete\n---\n\nInstall", "status: obsolete"),
        ("---\ndeprecated: true\n---\n\nInstall", "deprecated: true"),
        ("---\nsuperseded_by: adr-9\n---\n\nInstall", "superseded_by: adr-9"),
        ("Request for Comments: 2616\nObsoleted by: 7230\n", "Obsoleted by: 7230"),
        ("OBSOLETE\n\nPrice list 2020\n", "OBSOLETE"),
        ("Price list 2020 (superseded)\n\nApples 3", "Price list 2020 (superseded)"),
        ("# [DEPRECATED] Deploying\n\nRun", "[DEPRECATED] Deploying"),
        ("# Backup\n\n**Deprecated since May 2023: use restic.**\n", "Deprecated since May 2023: use restic."),
        ("# Bylaws\n\nNo longer valid, see bylaws-2023.\n", "No longer valid, see bylaws-2023."),
        ("# Leaves\n\nBy T. O. SUPERSEDED by v2 from Sept 2024\n", "By T. O. SUPERSEDED by v2 from Sept 2024"),
        ("HYPO PROTOCOL\n(superseded Nov 2024, kept for Glenys)\n", "(superseded Nov 2024, kept for Glenys)"),
        ("# VPN\n\nInstall it.\n\nThis page is out of date. See vpn.md.\n", "This page is out of date."),
        ("This rota (R-3) has now been\nreplaced by rota.xlsx.", "This rota (R-3) has now been replaced by rota.xlsx."),
        ("> **Warning**\n> This page\n> is out of date.\n\nText", "Warning This page is out of date."),
        (
            "# Pneumonia\n\nRemark, 3 June: overtaken by the pocket guide\n",
            "Remark, 3 June: overtaken by the pocket guide",
        ),
        ("---\nseason: 2019\nnote: lapsed, see the board\n---\n", "note: lapsed, see the board"),
        ("| Approved | 2022 |\n| Withdrawn | 31 August 2024 |\n", "Withdrawn | 31 August 2024"),
        ("# Fees\n\nAdopted in 2015\nReproduced for information only.\n", "Reproduced for information only."),
        ("# Leave (2021 edition – no longer valid)\n\n25 days", "Leave (2021 edition – no longer valid)"),
        ("# Failover\n\nDo not follow this page. It was for the old rack.", "Do not follow this page."),
        ("Gary retired, so none of this holds any more.", "Gary retired, so none of this holds any more."),
        ("STATUTES\n\n[ These statutes ceased to apply. ]", "[ These statutes ceased to apply."),
        ("# Waste\n\n(Old version of 2020)\n", "(Old version of 2020)"),
        ("Travel Rules\n============\n\n.. note:: Obsolete since 1 March.\n", ".. note:: Obsolete since 1 March."),
        ("# Fees\n\n*Not in force any more!*", "Not in force any more!"),
        ("Note: This contract ended on 31 March 2022.", "Note: This contract ended on 31 March 2022."),
        ("We moved out, so this plan doesn't apply any more.", "We moved out, so this plan doesn't apply any more."),
        ("It was switched off, and what's below is history.", "It was switched off, and what's below is history."),
        ("# Fees\n\nOwner: Ann\n**Superseded by:** ADR-9\n", "Superseded by: ADR-9"),
        ("# Fees\n\n**Withdrawn:** 31 August 2024\n", "Withdrawn: 31 August 2024"),
        ("# Fees\n\nDeprecated: [fees.md](fees.md)\n", "Deprecated: [fees.md](fees.md)"),
        ("# Fees\n\nObsolete: use fees.md\n", "Obsolete: use fees.md"),
        ("| OBSOLETE |\n|---|\n\nFees", "OBSOLETE"),
        ("This version of the leave policy is superseded.", "This version of the leave policy is superseded."),
    ],
)
def test_notices(text: str, notice: str) -> None:
    assert outdated_notice(text) == notice


@pytest.mark.parametrize(
    "text",
    [
        "# 9\n\n## Status\n\nAccepted, supersedes ADR 4\n\n## Context\nThe old one was superseded.",
        "# 9\n\nStatus: accepted (not superseded)\n",
        '# 11\n\nStatus: accepted, section "Salt" replaced\n',
        "# Changelog\n\n## 1.2\n\n### Deprecated\n\n- the old API\n",
        "# Changelog\n\n1.2\nDeprecated:\n\n- the old API\n",
        "| ADR | Title | Status |\n|---|---|---|\n| 4 | Queue | Superseded |\n",
        "If this policy is replaced, members are told.\n",
        "This policy remains in force until it is replaced.\n",
        "# Parts\n\n- Replaced by part 12\n- Obsolete parts\n",
        "This form replaces the form of 2020, which is obsolete.\n",
        "Obsoletes: 2616\n",
        "The status of women in archived records\n\nText",
        "Status: We replaced the pump by a new one.\n",
        "# Minutes\n\nThis item was withdrawn by the chair.\n",
        "# Orders\n\nThis page describes how old orders are archived.\n",
        "In this way the policy was replaced.",
        "# Log\n\n3 May: replaced by Tom\n",
        "Prices from May 2024 (list of 2023 no longer valid)\n\nApples",
        "This does not apply to strikes.",
        "Do not use this form for holidays abroad.",
        "1. Amendment 1 (poster)\n2. Amendment 2 (withdrawn by us)",
        "# Stages\n\n1. Deprecated. It still works.\n2. Removed.\n",
        "Apples,\nobsolete, and pears.",
        "Expired passports must be renewed.\n",
        "Membership status: expired members may rejoin.\n",
        "# Travel\n\nVersion: 3.0\nPrevious version: 2.1 (May 2022)\n",
        "# Travel\n\n| Version | 3.0 |\n|---|---|\n| Previous version | 2.1 |\n",
        "# Fees\n\nOld version numbers had three digits.\n",
        "# Fees\n\nSuperseded by: none\n",
        "# Fees\n\nSuperseded by: -\n",
        "# Fees\n\n| Superseded by | | Owner | Ann |\n",
        "---\nsuperseded_by: null\n---\n\nFees",
        "---\ndeprecated: false\n---\n\nFees",
        "# Stock\n\nAdded: 120 books.\nWithdrawn: 34 books.\n",
        "# Regatta\n\nWinner: Heron\nWithdrawn: Swan, Teal.\n",
        "# Members\n\nActive: 120. Lapsed: 14.\n",
        "# Switch 12\n\nEnd of life: June 2029\n",
        "# Ticket\n\nStatus: open / closed / deprecated\n",
        "# Ann Lee\n\nStatus: active\nWarranty status: expired\n",
        "Fees (to be superseded in 2026)\n\nBerth 3",
        "Rules\n\n" + "All of them hold. " * 90 + "\n\nThis page is obsolete.",
    ],
)
def test_texts_about_what_is_outdated_are_not(text: str) -> None:
    """They are about other documents, a part, a condition, or say so after the opening."""
    assert outdated_notice(text) == ""


def test_a_title_counts_and_a_long_notice_is_cut() -> None:
    assert outdated_notice("Run it.", "Deploying (deprecated)") == "Deploying (deprecated)"
    notice = outdated_notice("This page is outdated, " + "since so much has changed, " * 20 + "sorry.")
    assert len(notice) <= 162
    assert notice.endswith("…")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("hr/leave-policy-2021-OLD.md", "leave-policy-2021-OLD.md"),
        ("TN-0988-SUPERSEDED-queue.md", "TN-0988-SUPERSEDED-queue.md"),
        ("rota (superseded).txt", "rota (superseded).txt"),
        ("prices_old.csv", "prices_old.csv"),
        ("hr/old/2021/leave.md", "old/"),
        ("Obsolete/leave.md", "Obsolete/"),
        ("old-mills.md", ""),
        ("the OLDEST.md", ""),
        ("threshold.md", ""),
        ("old mails/band.txt", ""),
        ("deprecated-calls.md", ""),
        ("old.md", ""),
        ("puppy 8 weeks old.md", ""),
        ("12-year-old.txt", ""),
    ],
)
def test_names_that_say_so(path: str, name: str) -> None:
    assert outdated_name(path) == name


def test_the_words_of_a_document_come_before_its_name() -> None:
    assert dict(parse("old/fees.md", b"Fees\n").metadata)[OUTDATED] == "old/"
    assert dict(parse("old/fees.md", b"OBSOLETE since May\n\nFees\n").metadata)[OUTDATED] == "OBSOLETE since May"
    assert OUTDATED not in dict(parse("fees.md", b"Fees\n").metadata)
