"""Texts written for the purpose: notes, lists, policies and abstracts of made-up facts, with their questions.

A page states some attributes of some subjects. What is asked of one that it does not state, while it has the subject
or the attribute, is a near miss of the kind that people's own folders are full of.
"""

# ruff: noqa: E501 - the values of an attribute stand in one line

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from .words import DAYS, MONTHS

Value = Callable[[Random], str]


@dataclass(frozen=True, slots=True)
class Attribute:
    """What can be said of a subject: a value, statements with `{s}` and `{v}`, questions with `{s}`."""

    label: str
    value: Value
    statements: tuple[str, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Domain:
    """Pages of one kind: titles, headings, subjects, and what is said of them."""

    titles: tuple[str, ...]
    headings: tuple[str, ...]
    subjects: tuple[str, ...]
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question on a page; `start` is -1 where the page does not answer it."""

    question: str
    context: str
    text: str
    start: int
    end: int


def _of(text: str) -> Value:
    options = tuple(part.strip() for part in text.split("|"))
    return lambda random: random.choice(options)


def _number(low: int, high: int, form: str = "{}") -> Value:
    return lambda random: form.format(f"{random.randint(low, high):,}")


def _date(random: Random) -> str:
    day, month, year = random.randint(1, 28), random.choice(MONTHS), random.randint(1995, 2026)
    return random.choice((f"{day} {month} {year}", f"{month} {day}, {year}", f"{month} {year}", f"{day} {month}"))


def _clock(random: Random) -> str:
    hour, minute = random.randint(7, 21), random.choice(("00", "15", "30", "45"))
    return random.choice((f"{hour}:{minute}", f"{(hour - 1) % 12 + 1}:{minute} {'am' if hour < 12 else 'pm'}"))


_PEOPLE = (
    "Ada Novak | Tomas Berg | Priya Raman | Jun Okada | Leila Haddad | Marco Ruiz | Ingrid Sol | Peter Achterberg | "
    "Chidi Obi | Hannah Wolff | Yusuf Demir | Clara Jensen | Mei Tan | Olga Petrova | Sam Whitfield | Rosa Delgado | "
    "Emil Lindqvist | Farah Aziz | Noah Becker | Lucia Conti"
)
_person = _of(_PEOPLE)
_place = _of(
    "room 204 | the east wing | the main hall | building C | the second floor | the library annex | Lisbon | Oslo | "
    "Gdansk | Porto | Kyoto | Tallinn | the harbour office | the old gymnasium | the canteen | Leeds | Utrecht"
)


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("|"))


DOMAINS: tuple[Domain, ...] = (
    Domain(
        _split("Project log | Weekly notes | Minutes | Team notes | Planning | notes-2024"),
        _split("Status | Decisions | Action items | Open points | Who does what | Milestones"),
        _split(
            "the billing migration | the search service | project Heron | the onboarding guide | the audit | Lumen | "
            "the mobile app | the data warehouse | project Quartz | the support portal | the print catalogue | Atlas 2"
        ),
        (
            Attribute(
                "owner",
                _person,
                ("{v} owns {s}", "{s} is led by {v}", "{s}: {v} takes this over", "Owner of {s} is {v}"),
                ("Who owns {s}?", "who is responsible for {s}", "Who leads {s}?", "whose job is {s}?"),
            ),
            Attribute(
                "deadline",
                _date,
                ("{s} is due {v}", "Deadline for {s}: {v}", "{s} must be finished by {v}"),
                ("When is {s} due?", "what is the deadline for {s}", "By when must {s} be done?"),
            ),
            Attribute(
                "budget",
                _number(4, 950, "{},000 euros"),
                ("{s} has a budget of {v}", "We set aside {v} for {s}", "Budget, {s}: {v}"),
                ("How much money is there for {s}?", "budget of {s}", "What may {s} cost?"),
            ),
            Attribute(
                "start",
                _date,
                ("{s} began on {v}", "Work on {s} started {v}", "Kick-off of {s}: {v}"),
                ("When did {s} start?", "when was the kick-off of {s}", "Since when do we work on {s}?"),
            ),
            Attribute(
                "blocker",
                _of(
                    "the missing test data | a licence that has not been signed | slow reviews | the vendor's API limits | two open security findings | lack of a staging server"
                ),
                ("{s} is held up by {v}", "{s} waits because of {v}", "Blocker for {s}: {v}"),
                ("What is blocking {s}?", "why is {s} late", "What holds up {s}?"),
            ),
            Attribute(
                "decision",
                _of(
                    "postpone the release | use the second vendor | drop the old format | hire one more tester | split it in two phases | keep the current design"
                ),
                ("For {s} we decided to {v}", "Decision on {s}: {v}", "It was agreed to {v} in the case of {s}"),
                ("What was decided about {s}?", "decision on {s}", "What did we agree on for {s}?"),
            ),
        ),
    ),
    Domain(
        _split("Staff handbook | HR policies | Employee guide | Company rules | Benefits"),
        _split("Leave | Time off | Entitlements | Who may take it | Rules"),
        _split(
            "annual leave | parental leave | sick leave | study leave | unpaid leave | compassionate leave | jury duty | "
            "remote work | overtime | the travel allowance | the training budget | the company bicycle"
        ),
        (
            Attribute(
                "days",
                _number(2, 60, "{} days"),
                ("Up to {v} of {s} may be taken each year", "{s}: {v} a year", "Staff are entitled to {v} of {s}"),
                ("How many days of {s} do I get?", "how much {s} am I entitled to", "What is the limit for {s}?"),
            ),
            Attribute(
                "approval",
                _of(
                    "your line manager | the HR office | the head of department | the works council | the finance team | the board"
                ),
                ("{s} has to be approved by {v}", "Ask {v} before you take {s}", "Requests for {s} go to {v}"),
                ("Who has to approve {s}?", "who do I ask about {s}", "Who signs off {s}?"),
            ),
            Attribute(
                "notice",
                _number(2, 12, "{} weeks"),
                ("{s} must be requested at least {v} ahead", "Notice needed for {s}: {v}", "Give {v} notice for {s}"),
                (
                    "How long in advance must I request {s}?",
                    "notice period for {s}",
                    "How early do I have to ask for {s}?",
                ),
            ),
            Attribute(
                "eligible",
                _of(
                    "full-time employees only | anyone past the probation period | permanent staff | employees with children under twelve | all staff except interns | team leads"
                ),
                ("{s} is open to {v}", "Eligible for {s}: {v}", "{s} can be claimed by {v}"),
                ("Who is eligible for {s}?", "who can take {s}", "Which employees may claim {s}?"),
            ),
            Attribute(
                "paid",
                _number(40, 100, "{} percent of salary"),
                ("During {s}, {v} is paid", "{s} is paid at {v}", "Pay for {s}: {v}"),
                ("How much is paid during {s}?", "pay for {s}", "At what rate is {s} paid?"),
            ),
        ),
    ),
    Domain(
        _split("Product sheet | Price list | Inventory | Equipment | Comparison | Gear"),
        _split("Specifications | Data | Models | Technical details | Facts"),
        _split(
            "the Orion X2 | the Vela 300 | the Tern kettle | the Bora heater | the Kite drone | the Mira lamp | "
            "the Pico scanner | the Stratus tent | the Onyx drill | the Delta pump | the Halo router | the Finch radio"
        ),
        (
            Attribute(
                "weight",
                _number(2, 95, "{} kg"),
                ("{s} weighs {v}", "Weight of {s}: {v}", "{s} comes to {v} with its box"),
                ("How heavy is {s}?", "weight of {s}", "What does {s} weigh?"),
            ),
            Attribute(
                "price",
                _number(15, 2400, "${}"),
                ("{s} sells for {v}", "{s} costs {v}", "Price, {s}: {v}"),
                ("How much is {s}?", "price of {s}", "What does {s} cost?", "how expensive is {s}"),
            ),
            Attribute(
                "warranty",
                _number(1, 10, "{} years"),
                ("{s} carries a warranty of {v}", "Warranty for {s}: {v}", "Repairs of {s} are free for {v}"),
                ("How long is {s} under warranty?", "guarantee period of {s}", "For how long are repairs of {s} free?"),
            ),
            Attribute(
                "battery",
                _number(2, 72, "{} hours"),
                ("The battery of {s} lasts {v}", "{s} runs {v} on one charge", "Battery life of {s}: {v}"),
                ("How long does the battery of {s} last?", "battery life {s}", "How long does {s} run on a charge?"),
            ),
            Attribute(
                "colour",
                _of("green | matte black | white and grey | dark red | silver | navy blue | sand"),
                ("{s} comes in {v}", "Colour of {s}: {v}", "{s} is available in {v}"),
                ("What colour is {s}?", "colour of {s}", "In which colour can I get {s}?"),
            ),
            Attribute(
                "maker",
                _of("Halvorsen AB | Tanaka Works | Nordlicht | Castell & Sons | Brightwater | Omnia Labs | Ferro SpA"),
                ("{s} is made by {v}", "Maker of {s}: {v}", "{v} builds {s}"),
                ("Who makes {s}?", "manufacturer of {s}", "Which company builds {s}?"),
            ),
        ),
    ),
    Domain(
        _split("Clinical abstract | Trial summaries | Literature notes | Findings | Reading list"),
        _split("Results | Methods | Conclusions | Outcomes | Evidence"),
        _split(
            "lorvatin | bexamide | tiroxal | meprasol | corvidene | naltrapine | ostefor | glymerin | ravoxin | "
            "the HELIOS protocol | cognitive training | early mobilisation"
        ),
        (
            Attribute(
                "effect",
                _number(4, 68, "{} %"),
                (
                    "{s} lowered mortality by {v} compared with placebo",
                    "In patients given {s}, relapse fell by {v}",
                    "{s} reduced symptoms by {v}",
                ),
                ("By how much did {s} help?", "effect size of {s}", "How large was the reduction with {s}?"),
            ),
            Attribute(
                "sample",
                _number(24, 4200, "{} patients"),
                ("{s} was studied in {v}", "The trial of {s} enrolled {v}", "{v} received {s}"),
                (
                    "How many patients received {s}?",
                    "sample size of the {s} trial",
                    "How many people took part in the study of {s}?",
                ),
            ),
            Attribute(
                "indication",
                _of(
                    "type 2 diabetes | chronic migraine | hip fracture | asthma | heart failure | rheumatoid arthritis | mild dementia | hypertension"
                ),
                ("{s} is used for {v}", "{s} was tested in {v}", "The indication of {s} was {v}"),
                ("What is {s} used for?", "which disease was treated with {s}", "In which condition was {s} tested?"),
            ),
            Attribute(
                "harm",
                _of(
                    "nausea | dizziness | a dry cough | skin rash | raised liver enzymes | insomnia | low blood pressure"
                ),
                (
                    "The most common side effect of {s} was {v}",
                    "{s} caused {v} in some participants",
                    "{v} was reported with {s}",
                ),
                ("What side effects does {s} have?", "adverse events of {s}", "Which harm was seen with {s}?"),
            ),
            Attribute(
                "duration",
                _number(2, 36, "{} months"),
                ("Treatment with {s} lasted {v}", "{s} was given for {v}", "Follow-up after {s} was {v}"),
                (
                    "For how long was {s} given?",
                    "duration of treatment with {s}",
                    "How long did treatment with {s} last?",
                ),
            ),
            Attribute(
                "mechanism",
                _of(
                    "blocking calcium channels | raising serotonin levels | binding to T cells | slowing bone loss | inhibiting the enzyme COX-2 | activating insulin receptors"
                ),
                ("{s} works by {v}", "{s} is thought to act by {v}", "The mechanism of {s} is {v}"),
                ("How does {s} work?", "mechanism of {s}", "By what mechanism does {s} act?"),
            ),
        ),
    ),
    Domain(
        _split("Travel notes | City guide | Conference trip | Getting there | Visitors"),
        _split("Getting around | Opening hours | Tickets | Where to eat | Sights"),
        _split(
            "the castle | the tram to the airport | the night market | the science museum | the ferry | bus 14 | "
            "the cable car | the botanical garden | the fish restaurant | the city pass | the old synagogue | the youth hostel"
        ),
        (
            Attribute(
                "fare",
                _number(2, 48, "{} euros"),
                ("{s} costs {v}", "A ticket for {s} is {v}", "{s}: {v} for adults"),
                ("What does {s} cost?", "ticket price {s}", "How much do I pay for {s}?"),
            ),
            Attribute(
                "opens",
                _clock,
                ("{s} opens at {v}", "{s} starts at {v}", "First entry to {s} is {v}"),
                ("When does {s} open?", "opening time of {s}", "From what time can I use {s}?"),
            ),
            Attribute(
                "closed",
                lambda random: random.choice(DAYS) + "s",
                ("{s} is closed on {v}", "No service of {s} on {v}", "Closed {v}: {s}"),
                ("On which day is {s} closed?", "closing day of {s}", "When can I not visit {s}?"),
            ),
            Attribute(
                "walk",
                _number(3, 55, "{} minutes"),
                ("{s} is {v} from the hotel", "It takes {v} to reach {s}", "Walking time to {s}: {v}"),
                (
                    "How far is {s} from the hotel?",
                    "how long does it take to get to {s}",
                    "How many minutes is it to {s}?",
                ),
            ),
            Attribute(
                "place",
                _place,
                ("{s} is near {v}", "You find {s} next to {v}", "Location of {s}: {v}"),
                ("Where is {s}?", "location of {s}", "where do I find {s}"),
            ),
        ),
    ),
    Domain(
        _split("README | Configuration | Changelog | Admin guide | Runbook | Setup"),
        _split("Options | Settings | Defaults | Limits | Environment"),
        _split(
            "`timeout` | `max_retries` | `cache_dir` | the nightly backup | the staging server | `log_level` | the ingest queue | "
            "`batch_size` | the reverse proxy | `api_token` | the health check | the build cache"
        ),
        (
            Attribute(
                "default",
                _number(1, 900),
                ("{s} defaults to {v}", "Default of {s}: {v}", "If unset, {s} is {v}"),
                ("What is the default of {s}?", "default value for {s}", "What is {s} if I do not set it?"),
            ),
            Attribute(
                "since",
                _number(1, 9, "version {}.2"),
                ("{s} was added in {v}", "{s} is available since {v}", "{v} introduced {s}"),
                ("Since when is {s} available?", "which version introduced {s}", "In what release was {s} added?"),
            ),
            Attribute(
                "file",
                _of("/etc/relay.conf | settings.toml | ~/.config/tool.yaml | docker-compose.yml | deploy/values.yaml"),
                ("{s} is set in {v}", "Change {s} in {v}", "{s} lives in {v}"),
                ("Where do I set {s}?", "which file configures {s}", "In what file is {s}?"),
            ),
            Attribute(
                "restart",
                _of("a full restart | a reload of the service | no restart | a new login | a rebuild of the image"),
                ("Changing {s} needs {v}", "After a change of {s}, {v} is needed", "{s} takes effect after {v}"),
                (
                    "What is needed after changing {s}?",
                    "how does a change of {s} take effect",
                    "Do I have to restart for {s}?",
                ),
            ),
            Attribute(
                "contact",
                _person,
                ("{v} maintains {s}", "In case of trouble with {s}, call {v}", "Contact for {s}: {v}"),
                ("Who maintains {s}?", "whom do I call about {s}", "Who is the contact for {s}?"),
            ),
        ),
    ),
    Domain(
        _split("Workshop programme | Conference notes | Seminar | Awards | Talks"),
        _split("Programme | Speakers | Sessions | Prizes | Accepted papers"),
        _split(
            "the keynote | the poster session | the panel on safety | the tutorial on graphs | the best paper award | "
            "the opening | the student breakfast | the robotics track | the closing talk | the doctoral forum | the hackathon"
        ),
        (
            Attribute(
                "who",
                _person,
                ("{v} gives {s}", "{s} is chaired by {v}", "{s}: {v}"),
                ("Who chairs {s}?", "who gives {s}", "Whose is {s}?"),
            ),
            Attribute(
                "when",
                _clock,
                ("{s} begins at {v}", "{v}: {s}", "{s} is scheduled for {v}"),
                ("When does {s} begin?", "time of {s}", "At what time is {s}?"),
            ),
            Attribute(
                "where",
                _place,
                ("{s} takes place in {v}", "{s} is held at {v}", "Place of {s}: {v}"),
                ("Where does {s} take place?", "where is {s}", "In which room is {s}?"),
            ),
            Attribute(
                "topic",
                _of(
                    "why large models overfit | honest uncertainty | sparse attention | learning from few labels | the limits of benchmarks | protein design"
                ),
                ("{s} is about {v}", "Topic of {s}: {v}", "{s} deals with {v}"),
                ("What is {s} about?", "topic of {s}", "Which subject does {s} deal with?"),
            ),
            Attribute(
                "size",
                _number(12, 3800, "{} people"),
                ("{s} drew {v}", "{v} attended {s}", "About {v} came to {s}"),
                ("How many people came to {s}?", "attendance of {s}", "How many attended {s}?"),
            ),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class _Fact:
    subject: str
    attribute: Attribute
    value: str


def _page(domain: Domain, facts: list[_Fact], random: Random) -> tuple[str, str, list[tuple[int, int]]]:
    """Context, text, and where each fact's value stands in the text."""
    title = random.choice(domain.titles)
    context = title if random.random() < 0.4 else f"{title} › {random.choice(domain.headings)}"
    style = random.choice(("list", "list", "prose", "lines"))
    text, spans = "", []
    for fact in facts:
        form = random.choice(fact.attribute.statements)
        before, after = (part.replace("{s}", fact.subject) for part in form.split("{v}"))
        line = before + fact.value + after
        at = len(before)
        if style == "list":
            line, at = "- " + line, at + 2
        if at > 0 and style != "list":
            line = line[0].upper() + line[1:]
        spans.append((len(text) + at, len(text) + at + len(fact.value)))
        text += line + {"list": "\n", "lines": "\n", "prose": ". "}[style]
    return context, text.rstrip(), spans


def pages(count: int, random: Random) -> list[list[Asked]]:
    """Questions in groups: one that its page answers, then the same on pages that do not, or another near miss."""
    return [_group(random.choice(DOMAINS), random) for _ in range(count)]


def _group(domain: Domain, random: Random) -> list[Asked]:
    subjects = random.sample(domain.subjects, k=random.randint(2, 5))
    pairs = [(subject, attribute) for subject in subjects for attribute in domain.attributes]
    random.shuffle(pairs)
    cut = random.randint(4, 9)
    facts = [_Fact(subject, attribute, attribute.value(random)) for subject, attribute in pairs[:cut]]
    order = facts[:]
    if random.random() < 0.6:
        order.sort(key=lambda fact: fact.subject)
    context, text, spans = _page(domain, order, random)
    asked = random.randrange(len(order))
    fact = order[asked]
    question = random.choice(fact.attribute.questions).format(s=fact.subject)
    group = [Asked(question, context, text, *spans[asked])]
    rest = [other for other in order if other is not fact]
    context2, text2, _ = _page(domain, rest, random)
    group.append(Asked(question, context2, text2, -1, -1))
    unsaid = [pair for pair in pairs[cut:] if random.random() < 0.9]
    if unsaid:
        subject, attribute = random.choice(unsaid)
        group.append(Asked(random.choice(attribute.questions).format(s=subject), context, text, -1, -1))
    return group
