"""Tell prompts that ask for something from those that only keep a conversation going.

"Yes, go ahead" and "thanks, commit it" have nothing to search for: whatever a search finds for
their words is noise. A prompt made of such words alone is one of these, unless it asks how work is
done ("how do I run the tests?"). So is one that speaks of what was said or done before, and has
hardly a word of its own ("now make it blue"). What is left is found by its words; then the page
decides (`is_about`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")  # noqa: RUF001 - the apostrophe of printed text
_PART = re.compile(r"[A-Z]*[a-z\d]+|[A-Z]+")
_PULL_REQUEST = re.compile(r"\b(?:pull|merge) requests?\b", re.IGNORECASE)
_TALK = """
a absolutely actually after afternoon again agree agreed ahead all alright also amazing an and
another answer answers any anything apply approve approved are as aside asked at awesome back be
been before better bit blah both bother bravo brb break briefer briefly brilliant but by bye can
cancel carry certainly change changes cheers choose clean clear close closer confirm confirmed cool
correct could couple course damn day decide definitely details did didn't do does doesn't doing
don't done drop easier easy edits either else enough evening everything evidently exactly example
excellent explanation fair fantastic far fast feel few find fine finish finished first for forget
forgot forth from full further get gimme gist give glad gladly go going gonna good goodbye got gotta
great greetings guess had hah haha happen happened happy has have haven't he hear hehe hello help
her here hey hi him his hiya hm hmm hold honestly how how's however hurry i i'd i'll i'm i've idea
if ignore im in instead interesting is isn't issue it it'd it'll it's its job just keep kidding kind
know last later leave left less let let's lets lgtm like line listen little lol long longer look
looking looks lot love lovely lunch made make makes maybe me mean meant meantime message mind minute
mistake moment more morning move much my nah neat need neither never news next nice nicely night no
nobody none nonetheless nope nor not nothing now obviously of off oh ok okay on once one ones only
oops opinion option or other others ouch our out over part pass passed passes pause perfect perhaps
please pls plus point pretty previous probably problem proceed promise proposal propose put question
questions quick quickly quit quite rather ready really recap redo remember repeat reply respond rest
result results review right roll same say sec second seconds see seem seems sense sentence sentences
shall she short shorter should show simple simpler simply skip slow slower smart so some something
soon sorry sounded sounds spot started stay step steps still stop strange suggest suggestion
suggestions suit suits summarize summary sup super suppose sure sweet take talk tell thank thanks
that that's thats the them then there there's these they they're thing things think third this those
though thoughts three thumbs tidy till time times to today tomorrow too top totally touch true try
turn twice two ty understand understood until up us use used usual very wait waiting wanna want was
wasn't way we we'll weird welcome well went were what's whatever whats where's whichever who's whole
why's will win wish with without won won't wonder wonderful word words work worked working works
worry worse worth would would've wow wrong ya yay yea yeah yep yes yesterday yet you you're you've
your yours yup
""".split()  # noqa: SIM905 - words, not code
_PLAIN = """
about above adjust afterwards alternative alternatives annoying apart ask asking bad badly battery
beautiful becomes below best big bigger black blue bold boss bottom bright brighter broken brown
busy careful carefully careless center centre clarify coffee colleague complex complicated confused
confusing crazy dark darker differently dinner double down dozen dude early eight eighth english
everybody everyone faster fifth fifty five fixed four fourth french friday friend friends fun funny
german getting gray green grey guys half happens hate holiday home horrible hour hours huge hundred
improve improved into italic keeps laptop large larger late light lighter loud louder manager
meeting messy middle minutes monday month months narrow narrower nine odd oddly orange own pink
polish purple red rephrase reword rewrite rewritten saturday seven shade shorten side silly
simplify six slowly small smaller softer somebody somehow someone sometimes somewhere spanish
stupid summarise sunday ten terrible thick thicker thin thinner thursday tiny tired tuesday tweak
ugly unclear understandable useless vacation wednesday week weekend weeks white wide wider worst
year yellow
""".split()  # noqa: SIM905 - words, not code
"""How something looks, when, by whom: words that say nothing of what they are said of."""
_WORK = """
amend branch branches build builds bump check checkout cherry clone command commands commit commits
compile compiling continue deploy diff draft edits execute fail failed failing fails fetch fix
format formatting github gitlab install lint main master merge open origin pick pr pre publish pull
push pytest rebase refactor release rerun restart resume retry revert run running save script ship
squash start stash submit suite test tests undo update upstream version wip write
""".split()  # noqa: SIM905 - words, not code
_QUESTIONS = frozenset(
    "describe explain how what when where which who whom whose why".split()  # noqa: SIM905
)
_VERBS = frozenset(
    """add close copy delete edit ignore insert kill move put recommend remove rename replace reuse
    tag translate turn""".split()  # noqa: SIM905
)
"""What an instruction begins with: not what it is about."""
ENOUGH = 2
"""How many of a prompt's own words must be on the page; half, if it has fewer than four. Not all: a
prompt may hold much that was pasted."""
TELLING, TELLING_ASKED = 3, 2
"""How many words of its own an instruction, or a question, needs to say what it is about."""
_COMMANDS = frozenset(
    "cargo cd docker git gradle ls mvn npm npx pip pnpm poetry pytest ruff tsc uv yarn".split()  # noqa: SIM905
)
_MAX_COMMAND_WORDS = 5
_BEGINNING, _ENDING = 4, 3
"""The fewest letters of a word that are compared, and the most that its ending may have."""
_SAID = frozenset((*_TALK, *_WORK, *_QUESTIONS))
_CONVERSATION = _SAID.union(_PLAIN)
_SAID_BEFORE = frozenset(
    "again it it's its that that's them there these this those".split()  # noqa: SIM905
)
_YOUR_WORK = re.compile(
    r"\b(?:you|you've) (?:just )?(?:\w+ed|did|gave|made|put|said|wrote)\b"
    r"|\byour (?:last|previous)\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\s*i (?:don.t |do not |really )?(?:hate|like|love|prefer|want)\b", re.IGNORECASE
)
_IS_IT = re.compile(r"\bis it\b", re.IGNORECASE)
"""What "it" stands for is not what was before: "what time is it", "how is it decided"."""
_NAME = re.compile(r"[`/\\]|\w[._:]\w|\w_|_\w|[a-z][A-Z]|\w\(")
"""A name of code, or a path: it says itself what it is."""
_WORK_WORDS = frozenset(_WORK)


def is_about(
    prompt: str, page: str, names: Iterable[str] = (), remembered: Iterable[str] = ()
) -> bool:
    """Return whether a page that was found by words has enough of the prompt's own words.

    Words of conversation do not count; of the others, two must be on the page, or half. A short
    instruction ("ignore the warnings") or question ("how old are you?") has hardly a word to search
    for: what it is about must be the name of something on the page, or in a memory; a question may
    name a part of it. Only the beginnings of words are compared, since endings differ. A prompt
    without such words passes.

    Args:
        prompt: What the user typed.
        page: The text of the page.
        names: The names of what is on the page.
        remembered: The texts of the memories on it.
    """
    words = _words(prompt)
    own = {*words} - _SAID
    if not own or not all(word.isascii() and not word.isdecimal() for word in own):
        return True
    if _count_shared(own, _parts(page)) < min(ENOUGH, (len(own) + 1) // 2):
        return False
    meant = own - _CONVERSATION - _VERBS
    asks = _is_question(prompt, words)
    if _NAME.search(prompt) or len(meant) >= (TELLING_ASKED if asks else TELLING):
        return True
    called = (parts for parts in map(_parts, names) if asks or len(parts) <= len(meant) + 1)
    said = (*called, *map(_parts, remembered))
    return bool(meant) and any(_count_shared(meant, parts) == len(meant) for parts in said)


def _parts(text: str) -> set[str]:
    """Return the words of a text; names of code are split."""
    return {part.casefold() for part in _PART.findall(text)}


def _count_shared(words: Collection[str], parts: Collection[str]) -> int:
    beginnings = (word[: max(_BEGINNING, len(word) - _ENDING)] for word in words)
    return sum(any(part.startswith(beginning) for part in parts) for beginning in beginnings)


def _words(text: str) -> list[str]:
    return [word.casefold().replace("’", "'") for word in _WORD.findall(text)]  # noqa: RUF001


def _is_question(text: str, words: Sequence[str]) -> bool:
    """Tell whether a prompt asks; "merge it when CI is green" does not."""
    asks = not _QUESTIONS.isdisjoint(words) and words[0] not in _WORK_WORDS
    return "?" in text or asks


def asks_for_something(prompt: str) -> bool:
    """Return whether a prompt has words to search for."""
    text = _PULL_REQUEST.sub("pr", prompt.strip())
    if text.startswith("/") and "\n" not in text and " " not in text:
        return False  # a command of the assistant
    words = _words(text)
    if len(words) <= _MAX_COMMAND_WORDS and "?" not in text and words[:1] and words[0] in _COMMANDS:
        return False  # a command of the shell
    own = {word for word in words if word not in _CONVERSATION and not word.isdecimal()}
    if own:
        return bool(_NAME.search(text)) or len(own) > _borrowed(text, words)
    return not _QUESTIONS.isdisjoint(words) and not _WORK_WORDS.isdisjoint(words)


def _borrowed(text: str, words: Sequence[str]) -> int:
    """Return how many words a prompt may have of its own that speaks of what was before.

    A question has fewer ("how does it parse options?" says what it is about), and none if it is
    about the work ("git push fails, why is that?").
    """
    is_question = _is_question(text, words)
    if is_question and not _WORK_WORDS.isdisjoint(words):
        return 0
    refers = not _SAID_BEFORE.isdisjoint(words) or bool(_YOUR_WORK.search(text))
    if refers and is_question:
        return 0 if _IS_IT.search(text) else 1
    if _YOUR_WORK.search(text):
        return 4
    if refers:
        return 2
    return 1 if "same" in words or _OPINION.match(text) else 0
