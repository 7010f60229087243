"""Our own word lists: synonyms, opposites, and other forms of questions."""

from __future__ import annotations

# Each group: words that can replace one another in most questions.
SYNONYMS = """
begin start commence | began started commenced | end finish conclude | ended finished concluded | make create produce
made created produced | built constructed erected | build construct erect | buy purchase acquire
bought purchased acquired | big large | biggest largest | largest biggest | small little | smallest tiniest
main primary chief principal | famous renowned well-known | kind type sort | kinds types sorts | get receive obtain
got received obtained | died deceased | die perish | killed slain | called named termed | show display exhibit
showed displayed | use employ utilize | used employed utilized | help assist aid | helped assisted aided
located situated | live reside dwell | lived resided dwelt | happen occur | happened occurred | job occupation
movie film | movies films | fight battle struggle | fought battled | country nation | countries nations
city town | author writer | wrote authored penned | book volume | reason cause | caused triggered | cause trigger
important significant crucial | goal aim objective | allow permit let | allowed permitted let
stop halt cease | stopped halted ceased | choose select pick | chose selected picked | chosen selected picked
leader head chief | leave depart | left departed | led headed | people persons individuals | person individual
children kids | company firm business | companies firms businesses | money funds cash | car automobile
doctor physician | illness disease sickness | idea concept notion | ideas concepts notions | part portion section
parts portions sections | place location spot | time period | area region zone | areas regions zones
amount quantity | total overall | percent percentage | share proportion | increase grow rise | increased grew rose
decrease decline fall | decreased declined fell | different distinct | same identical | first earliest initial
last final | old ancient | new recent modern | rich wealthy | poor needy | fast quick rapid | hard difficult tough
easy simple | often frequently | usually generally commonly | mainly mostly chiefly | almost nearly
approximately around roughly | because since | besides apart_from | also additionally
given granted awarded | give grant award | gave granted awarded | won gained | receive get obtain | received got
change alter modify | changed altered modified | join enter | joined entered | teach instruct | taught instructed
students pupils | student pupil | teacher instructor | school academy | attack assault | attacked assaulted
destroy ruin demolish | destroyed ruined demolished | find discover | discovered found detected | describe portray
described portrayed depicted | believe think | believed thought | said stated claimed | say state claim
suggest propose | suggested proposed | require need demand | required needed demanded | require demand
contain hold include | contains holds includes | contained held | include comprise | includes comprises
consist comprise | provide supply offer | provided supplied offered | provides supplies offers | release issue publish
released issued published | publish issue | published issued | move relocate | moved relocated | send dispatch
sent dispatched | keep retain | kept retained | rule govern | ruled governed | ruler monarch sovereign
law statute | laws statutes | song track | songs tracks | role part function | method way technique
methods ways techniques | result outcome | results outcomes | purpose aim function | effect impact | effects impacts
border boundary | borders boundaries | home house residence | building structure | buildings structures
popular well-liked | common widespread | rare uncommon | next following | previous prior former | current present
currently presently now | originally initially | formed established founded | founded established set_up
established founded set_up | form establish | control command | controlled commanded | defeat beat
defeated beaten beat | replaced superseded | replace supersede | refer allude | known recognized | similar alike
speak talk | spoke talked | language tongue | considered regarded deemed | opposed resisted | support back endorse
supported backed endorsed | belong pertain | separate divide split | separated divided split | divided split
connect link join | connects links joins | measure gauge | weigh | height elevation | length extent | size extent
team squad | match game | game match | players athletes | player athlete | fans supporters | trial hearing
prison jail | crime offence | police constabulary | army military | soldiers troops | troops soldiers | war conflict
treaty pact | agreement accord pact | ally partner | enemy foe | king monarch | election vote | elected voted_in
""".replace("\n", " | ")

# Each row: a word, and one that in its place makes a question ask for something else.
OPPOSITES = """
first last | last first | before after | after before | largest smallest | smallest largest | most least | least most
more fewer | fewer more | highest lowest | lowest highest | high low | low high | higher lower | lower higher
increase decrease | decrease increase | increased decreased | decreased increased | increasing decreasing
north south | south north | east west | west east | northern southern | southern northern | eastern western
western eastern | won lost | lost won | win lose | lose win | oldest newest | newest oldest | old new | new old
early late | late early | earliest latest | latest earliest | best worst | worst best | major minor | minor major
male female | female male | men women | women men | father mother | mother father | son daughter | daughter son
husband wife | wife husband | brother sister | sister brother | king queen | queen king | born killed | young old
allowed forbidden | allow forbid | legal illegal | permitted banned | banned permitted | accepted rejected
rejected accepted | accept reject | supported opposed | opposed supported | support oppose | oppose support
began ended | begin end | start stop | started stopped | ended began | end begin | opened closed | closed opened
inside outside | outside inside | above below | below above | public private | private public | rich poor
urban rural | rural urban | ancient modern | modern ancient | domestic foreign | foreign domestic | common rare
short long | long short | longest shortest | shortest longest | fast slow | strong weak | weak strong
positive negative | negative positive | maximum minimum | minimum maximum | buy sell | bought sold | sold bought
arrived left | arrive leave | leave arrive | left right | advantage disadvantage | benefit harm | success failure
successful unsuccessful | possible impossible | similar different | different similar | same different | like dislike
likes dislikes | able unable | include exclude | includes excludes | included excluded | create destroy
created destroyed | built demolished | build demolish | joined left | join leave | hired fired | gain lose
gained lost | remember forget | love hate | attack defend | attacked defended | guilty innocent | day night
summer winter | winter summer | morning evening | upper lower | hot cold | cold hot | wet dry | dry wet
heavy light | raised lowered | rise fall | rose fell | fell rose | grew shrank | teacher student | employer employee
import export | exports imports | imports exports | majority minority | minority majority | internal external
"""

# Patterns of questions, and other ways to ask them.
FORMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"^(?:In|During) (?:what|which) year (?:did|was|were) (.+)$", (r"When \1", r"The year of \1", r"Year: \1")),
    (r"^What year (?:did|was|were|is) (.+)$", (r"When \1", r"In which year \1", r"Tell me the year \1")),
    (
        r"^When (did|was|were|is|does) (.+)$",
        (r"What was the date when \2", r"On what date \1 \2", r"At what time \1 \2"),
    ),
    (r"^How many (.+)$", (r"What number of \1", r"The number of \1", r"What is the count of \1")),
    (r"^How much (.+)$", (r"What amount of \1", r"To what extent \1")),
    (r"^Who (was|is|were|are) (.+)$", (r"Which person \1 \2", r"Name the person who \1 \2", r"\2: who \1 it")),
    (r"^Who (\w+ed) (.+)$", (r"Which person \1 \2", r"By whom was \2 \1", r"Name whoever \1 \2")),
    (r"^Where (is|was|are|were|did|does) (.+)$", (r"In what place \1 \2", r"At which location \1 \2", r"Location: \2")),
    (r"^What (?:is|was) the name of (.+)$", (r"What is \1 called", r"Name \1", r"How is \1 known")),
    (r"^What (is|was|are|were) (.+)$", (r"Which \1 \2", r"Tell me what \2 \1", r"\2", r"Do you know what \2 \1")),
    (r"^Why (did|was|is|were|do|does|are) (.+)$", (r"For what reason \1 \2", r"What is the reason \2", r"How come \2")),
    (r"^Which (.+)$", (r"What \1",)),
    (r"^What (.+)$", (r"Which \1",)),
    (r"^How (did|does|do|is|was|were|are) (.+)$", (r"In what way \1 \2", r"By what means \1 \2")),
)
OPENINGS = (
    "tell me: ", "i would like to know ", "quick question, ", "please find: ", "what do my notes say: ",
    "remind me, ", "according to the document, ", "does it say anywhere ", "so ", "and ", "can you tell me ",
    "looking for: ",
)  # fmt: skip
# Words that a hurried question leaves out.
SMALL = frozenset(
    [
        "a", "an", "the", "is", "was", "are", "were", "did", "does", "do", "of", "in", "on", "at", "to", "for", "by",
        "with", "from", "that", "this", "which", "it", "its", "as", "be", "been", "had", "has", "have",
    ]
)  # fmt: skip
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SPELLED = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "fifteen", "twenty",
    "thirty", "forty", "fifty",
)  # fmt: skip


def synonyms() -> dict[str, tuple[str, ...]]:
    """The synonyms of each word in the list."""
    result: dict[str, tuple[str, ...]] = {}
    for row in SYNONYMS.split("|"):
        words = tuple(word.replace("_", " ") for word in row.split())
        for word in words:
            if " " not in word and word not in result:
                result[word] = tuple(other for other in words if other != word)
    return {word: others for word, others in result.items() if others}


def opposites() -> dict[str, str]:
    """The opposite of each word in the list."""
    return dict(row.split() for row in OPPOSITES.replace("\n", "|").split("|") if row.strip())
