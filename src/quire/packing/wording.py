"""Words and phrases that say the same, add nothing, or decide what a text says.

Only what is safe in any text stands here: a word that is missing keeps two texts apart that could
be one, which costs a few tokens; a wrong one would hide a contradiction.
"""

from __future__ import annotations

from collections.abc import Mapping


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


EMPTY_WORDS = _words(
    "a actually also an and basically furthermore indeed just likewise moreover namely"
    " please really simply so such that the then therefore these this those thus too very"
    " which"
)
"""Words that can come and go without a change of what is said."""

NEGATIONS = _words(
    # English
    "barely cannot hardly neither never no nobody none nor not nothing nowhere rarely seldom"
    " without"
    # German
    " kaum kein keine keinem keinen keiner keines nicht nichts nie niemals niemand ohne weder"
    # French
    " aucun aucune jamais ne ni pas personne rien sans"
    # Spanish
    " jamás nada nadie ni ninguna ninguno ningún nunca sin tampoco"
)
DECISIVE_WORDS = NEGATIONS | _words(
    # English: obligations, conditions, limits, time, opposites, amounts
    "all always any before after but can could deprecated disabled during either else enabled"
    " except first former formerly however if instead last later less longer may might more most"
    " must next obsolete off old on once only optional or otherwise previously rather"
    " required shall should since some still than though unless until unlike when whenever where"
    " while will would yet till although anymore wrong false true both each every few half least"
    " many once twice one two three four five six seven eight nine ten eleven twelve twenty thirty"
    " hundred thousand million billion monday tuesday wednesday thursday friday saturday sunday"
    " january february march april june july august september october november december"
    " today tomorrow yesterday"
    # German
    " aber alle außer bevor bis dürfen falls immer kann können mehr muss müssen nachdem nur oder"
    " seit sofern soll sollen sollte vor weniger wenn wird ab"
    # French
    " après avant depuis doit doivent mais moins ou peut peuvent plus sauf seulement si toujours"
    " tous toutes quand"
    # Spanish
    " antes aunque cuando debe deben después excepto menos más o pero puede pueden salvo siempre"
    " solo sólo todos todas"
)
"""Words that change what a text says by coming or going."""


def _same(*groups: str) -> dict[str, str]:
    """Map each word of a group to its first."""
    return {word: group.split()[0] for group in groups for word in group.split()}


def _verbs(*groups: str) -> dict[str, str]:
    """Do the same for the regular forms of verbs, given without their ending."""
    return _same(
        *(
            " ".join(_inflect(stem, ending) for stem in group.split())
            for group in groups
            for ending in ("", "s", "ed", "ing")
        )
    )


def _inflect(stem: str, ending: str) -> str:
    if stem.endswith("e") and ending in {"ed", "ing"}:
        return stem[:-1] + ending
    if stem.endswith(("sh", "ch", "ss", "x")) and ending == "s":
        return stem + "es"
    if stem.endswith("y") and stem[-2] not in "aeo" and ending in {"s", "ed"}:
        return stem[:-1] + ("ies" if ending == "s" else "ied")
    return stem + ending


SAME_WORDS: Mapping[str, str] = {
    **_same(
        "almost nearly",
        "among amongst",
        "approximately roughly",
        "begin start",
        "began started",
        "begins starts",
        "big large",
        "bigger larger",
        "biggest largest",
        "colleague coworker co-worker",
        "each every",
        "entire whole",
        "frequently often",
        "immediately instantly",
        "largely mainly mostly",
        "maybe perhaps",
        "quickly rapidly",
        "someone somebody",
        "anyone anybody",
        "everyone everybody",
        "till until",
        "though although",
        "toward towards",
        "via through",
        "when whenever",
    ),
    **_verbs(
        "show display",
        "use utilize utilise",
        "help assist",
        "need require",
        "fix repair",
        "remove delete",
        "create generate",
        "finish complete",
        "attempt try",
        "receive obtain",
    ),
}

BRITISH: Mapping[str, str] = {
    british + ending: american + ending
    for british, american in (
        *(("behaviour", "behavior"), ("colour", "color"), ("favour", "favor")),
        *(("flavour", "flavor"), ("metre", "meter")),
        *(("honour", "honor"), ("labour", "labor"), ("neighbour", "neighbor")),
        *(("centre", "center"), ("licence", "license"), ("grey", "gray"), ("programme", "program")),
        *(("catalogue", "catalog"), ("dialogue", "dialog"), ("artefact", "artifact")),
        *(("cancell", "cancel"), ("labell", "label"), ("modell", "model"), ("travell", "travel")),
    )
    for ending in ("", "s", "ed", "ing", "er")
}

CONTRACTIONS: Mapping[str, tuple[str, ...]] = {
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
    **{
        f"{word}'{short}": (word, full)
        for words, short, full in (
            ("it that there here what who he she which where how", "s", "is"),
            ("we you they", "re", "are"),
            ("i we you they", "ve", "have"),
            ("i it we you they he she that there", "ll", "will"),
            ("i", "m", "am"),
        )
        for word in words.split()
    },
}

PHRASES: Mapping[tuple[str, ...], tuple[str, ...]] = {
    tuple(phrase.split()): tuple(same.split())
    for phrase, same in {
        "e g": "for example",
        "for instance": "for example",
        "i e": "that is",
        "in order to": "to",
        "because of": "due to",
        "owing to": "due to",
        "as well as": "",
        "at once": "immediately",
        "right away": "immediately",
        "by hand": "manually",
        "of course": "",
        "as we all know": "",
        "as we know": "",
        "as you know": "",
        "as already said": "",
        "as stated above": "",
        "for some time": "for while",
        "has to": "must",
        "have to": "must",
        "is able to": "can",
        "are able to": "can",
        "in case": "if",
        "a number of": "several",
        "no longer": "no longer",
        "prior to": "before",
        "apart from": "except",
        "it is worth noting": "",
        "as follows": "",
    }.items()
}
"""Phrases of words that are spelled alike already, and the words that they stand for."""
