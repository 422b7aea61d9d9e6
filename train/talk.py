"""Conversations made by rule: what somebody tells of, and what is asked about it later."""

from __future__ import annotations

import json
import random
from pathlib import Path

from train.pairs import Pair

COUNT = 16_000
PEOPLE = [
    "Amira",
    "Jonas",
    "Priya",
    "Tomasz",
    "Ingrid",
    "Kofi",
    "Lucia",
    "Marek",
    "Naomi",
    "Oskar",
    "Petra",
    "Quentin",
    "Rosa",
    "Stefan",
    "Tara",
    "Ulrich",
    "Vera",
    "Walid",
    "Xenia",
    "Yusuf",
    "Zofia",
    "Bea",
    "Carlos",
    "Dmitri",
    "Elena",
    "Farid",
    "Greta",
    "Hamza",
    "Iris",
    "Jamal",
]
WHEN = [
    "yesterday",
    "last week",
    "last Friday",
    "on Saturday",
    "two weeks ago",
    "this morning",
    "back in March",
    "last summer",
    "the other day",
    "over the weekend",
    "last month",
    "on Tuesday evening",
    "a few days ago",
    "last year",
]
# What was said, with slots; questions in other words; values of the slots.
EVENTS: tuple[tuple[tuple[str, ...], tuple[str, ...], dict[str, str]], ...] = (
    (
        (
            "I signed up for a {c} class {t}, we meet every {d}.",
            "Guess what, I've started {c}! First lesson was {t}.",
        ),
        (
            "What hobby did {s} take up?",
            "When did {s} begin learning {c}?",
            "Which course is {s} attending?",
        ),
        {
            "c": (
                "pottery|salsa|calligraphy|judo|watercolour|Portuguese|woodworking|"
                "bouldering|baking|guitar|archery|sign language"
            )
        },
    ),
    (
        (
            "We adopted a {a} {t}! We named it {n}.",
            "There's a new member of the family: a {a} called {n}, since {t}.",
        ),
        (
            "What pet does {s} have?",
            "What is the name of {s}'s {a}?",
            "When did {s} get an animal?",
        ),
        {
            "a": "puppy|kitten|parrot|rescue greyhound|tortoise|rabbit|guinea pig|old tabby cat",
            "n": "Biscuit|Nala|Pepper|Momo|Olive|Ziggy|Juno|Pickle",
        },
    ),
    (
        (
            "I drove out to {p} {t} with {w}, the views were unreal.",
            "Just back from {p}! {w} came along, we left {t}.",
        ),
        (
            "Where did {s} travel?",
            "Who went with {s} to {p}?",
            "When was {s} in {p}?",
            "Which places has {s} visited?",
        ),
        {
            "p": (
                "the Dolomites|Lisbon|Lake Ohrid|the Scottish Highlands|Kyoto|Oaxaca|"
                "the Baltic coast|Yosemite|Marrakesh|the Azores"
            ),
            "w": "my sister|my cousin|the kids|an old friend|my neighbour|my partner|my dad",
        },
    ),
    (
        (
            "They offered me the job at {o}! I start {t2}.",
            "I handed in my notice {t}, I'm going to work for {o}.",
        ),
        ("Where will {s} work?", "What is {s}'s new employer?", "Did {s} change jobs?"),
        {
            "o": (
                "a small architecture studio|the city library|"
                "a start-up that maps wind|the children's hospital|a bakery downtown|"
                "the botanical garden|a law clinic|the ferry company"
            ),
            "t2": "in May|next Monday|after the holidays|in three weeks",
        },
    ),
    (
        ("My {f} is visiting, she brought {g} for me.", "My {f} gave me {g} for my birthday {t}."),
        (
            "What present did {s} receive?",
            "Who gave {s} {g}?",
            "What does {s} own that came from a relative?",
        ),
        {
            "f": "grandmother|aunt|mother|stepsister|godmother",
            "g": (
                "an old camera|a hand-knitted scarf|a silver compass|her recipe book|"
                "a record player|a jade necklace|a chess set"
            ),
        },
    ),
    (
        ("I ran the {r} {t} and finished in {m}.", "{t2} I finally did the {r}. It took me {m}."),
        (
            "How long did {s} need for the race?",
            "Which sporting event did {s} take part in?",
            "When did {s} compete?",
        ),
        {
            "r": (
                "half marathon|charity 10k|mountain trail race|city triathlon|relay around the lake"
            ),
            "m": "under two hours|52 minutes|almost four hours|three hours and a bit",
            "t2": "Last Sunday|Two Saturdays ago|On the bank holiday",
        },
    ),
    (
        (
            "I've been reading {b}, I can't put it down.",
            "{w} lent me {b} {t} and I finished it in two days.",
        ),
        (
            "Which book does {s} like?",
            "What has {s} been reading lately?",
            "Who recommended a novel to {s}?",
        ),
        {
            "b": (
                "a biography of Marie Curie|a novel about lighthouse keepers|"
                "a history of salt|a thriller set in Oslo|"
                "a collection of Polish short stories|a memoir by a beekeeper"
            ),
            "w": "My boss|My brother|A colleague|My book club",
        },
    ),
    (
        (
            "The doctor says my {k} needs {x}, so no {y} for a while.",
            "I hurt my {k} {t}. {x} for six weeks, and no {y}.",
        ),
        (
            "What injury does {s} have?",
            "Why can't {s} do {y}?",
            "What health problem was {s} told about?",
        ),
        {
            "k": "knee|shoulder|left wrist|back|ankle",
            "x": "physiotherapy|a brace|surgery|rest",
            "y": "tennis|climbing|cycling|swimming|dancing",
        },
    ),
    (
        (
            "I cooked {e} for {w} {t}, everybody wanted the recipe.",
            "Tried making {e} {t}. {w} said it was the best so far.",
        ),
        (
            "What dish did {s} prepare?",
            "For whom did {s} make dinner?",
            "What food is {s} good at?",
        ),
        {
            "e": (
                "mushroom risotto|lamb tagine|pierogi|a walnut cake|ramen from scratch|"
                "stuffed peppers|sourdough"
            ),
            "w": "the whole team|my in-laws|the neighbours|my flatmates|the choir",
        },
    ),
    (
        (
            "We're moving to {p} {t2}, the lease is signed.",
            "Big news: {p} it is! We got the flat {t}.",
        ),
        ("Where is {s} going to live?", "Is {s} relocating?", "To which town does {s} move?"),
        {
            "p": "Gdansk|Bristol|Montreal|Valencia|Tartu|Portland|Leipzig|Wellington",
            "t2": "in autumn|at the end of June|next spring",
        },
    ),
    (
        (
            "I volunteer at {o} now, mostly on {d}s.",
            "{t} I helped out at {o} and they asked me to stay on.",
        ),
        (
            "What charity work does {s} do?",
            "Where does {s} help in their free time?",
            "What good cause is {s} involved in?",
        ),
        {
            "o": (
                "the food bank|an animal shelter|the refugee centre|a repair café|"
                "the community garden|a crisis hotline"
            )
        },
    ),
    (
        ("My {f} got {q} {t}, we're so proud.", "Did I tell you? {q} for my {f}, {t}!"),
        (
            "What did {s}'s {f} achieve?",
            "Which good news did {s} have about the family?",
            "What are {s}'s relatives doing?",
        ),
        {
            "f": "daughter|nephew|little brother|son|niece",
            "q": (
                "into medical school|a scholarship|her driving licence|"
                "the lead in the school play|a place on the national team"
            ),
        },
    ),
    (
        ("I painted {u} {t}, it hangs in the hallway now.", "Finished {u} {t}. Took me forever."),
        ("What art has {s} made?", "When did {s} create {u}?", "What hangs in {s}'s home?"),
        {
            "u": (
                "a sunrise over the harbour|a portrait of my dog|the old bridge|"
                "a field of poppies|an abstract thing in blue"
            )
        },
    ),
    (
        (
            "I'm allergic to {z}, found that out {t} the hard way.",
            "No {z} for me any more, doctor's orders since {t}.",
        ),
        (
            "What can {s} not eat?",
            "Which allergy does {s} have?",
            "What should one avoid when cooking for {s}?",
        ),
        {"z": "walnuts|shellfish|dairy|strawberries|gluten|eggs"},
    ),
    (
        (
            "My car broke down {h} {t}, the {j} is gone.",
            "The {j} gave up {h} {t}. Towing cost a fortune.",
        ),
        (
            "What went wrong with {s}'s vehicle?",
            "Where did {s} get stuck?",
            "What does {s} have to get repaired?",
        ),
        {
            "h": "on the motorway|in a tunnel|outside the airport|at a crossing|near the lake",
            "j": "clutch|alternator|gearbox|radiator|fuel pump",
        },
    ),
    (
        (
            "I went to hear {v} {t}, goosebumps all the way.",
            "{w} had tickets for {v} {t}, what a night!",
        ),
        ("Which concert did {s} attend?", "What music does {s} enjoy?", "Who took {s} to a show?"),
        {
            "v": (
                "a string quartet|an Ethiopian jazz band|a gospel choir|a fado singer|"
                "a brass band from Serbia"
            ),
            "w": "My ex|My colleague|My uncle|A client",
        },
    ),
    (
        ("I talked to {w} about {l} {t}. I feel lighter.", "{t2} I finally told {w} about {l}."),
        (
            "Whom did {s} confide in?",
            "What has been weighing on {s}?",
            "When did {s} open up about {l}?",
        ),
        {
            "w": "a therapist|my mother|my support group|my manager|my best friend",
            "l": (
                "the divorce|burning out|coming out|losing my dad|my panic attacks|wanting children"
            ),
            "t2": "Last night|On Sunday|On the train home",
        },
    ),
    (
        (
            "I'm saving up for {i}, should have enough by {t2}.",
            "Bought {i} {t}! I've wanted one for years.",
        ),
        (
            "What does {s} want to buy?",
            "What expensive thing did {s} get?",
            "What is {s} putting money aside for?",
        ),
        {
            "i": "a cargo bike|a telescope|a loom|an electric piano|a camper van|a sewing machine",
            "t2": "Christmas|summer|the end of the year",
        },
    ),
)
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Saturday", "Sunday"]
CHAT = [
    "That sounds wonderful!",
    "Oh no, I'm sorry to hear that.",
    "How have you been?",
    "Really? Tell me more!",
    "I'm so happy for you.",
    "You deserve it.",
    "Same here, it has been a busy week.",
    "Take care of yourself.",
    "Haha, typical!",
    "Wow, congrats!",
    "What made you decide that?",
    "I wish I could do that, too.",
    "Thanks for listening, it means a lot.",
    "Anyway, what's new with you?",
    "Let me know how it goes.",
    "I remember you mentioning that.",
    "No way!",
    "Good luck, I'll keep my fingers crossed.",
]


def made_pairs(count: int, seed: int = 11) -> list[Pair]:
    """Return pairs of a question and the turns of a conversation that answer it."""
    rng = random.Random(seed)
    pairs: list[Pair] = []
    while len(pairs) < count:
        speaker, listener = rng.sample(PEOPLE, 2)
        told = [_event(event, speaker, rng) for event in rng.sample(EVENTS, 4)]
        passages = [_turns(speaker, listener, said, rng) for said, _ in told]
        for index, (_, questions) in enumerate(told):
            question = rng.choice(questions)
            negatives = [text for other, text in enumerate(passages) if other != index]
            pairs.append(Pair("talk-made", question, passages[index], negatives[:2], "made"))
    return pairs[:count]


def _event(
    event: tuple[tuple[str, ...], tuple[str, ...], dict[str, str]], speaker: str, rng: random.Random
) -> tuple[str, list[str]]:
    said, questions, slots = event
    values = {name: rng.choice(choices.split("|")) for name, choices in slots.items()}
    values |= {"s": speaker, "d": rng.choice(DAYS)}
    values.setdefault("t", rng.choice(WHEN))
    text = rng.choice(said).format_map(values)
    return text[0].upper() + text[1:], [one.format_map(values) for one in questions]


def _turns(speaker: str, listener: str, said: str, rng: random.Random) -> str:
    turns = [f"{speaker}: {said}"]
    if rng.random() < 0.4:
        turns[0] = f"{speaker}: {rng.choice(CHAT)} {said}"
    if rng.random() < 0.5:
        turns.insert(0, f"{listener}: {rng.choice(CHAT)}")
    if rng.random() < 0.5:
        turns.append(f"{listener}: {rng.choice(CHAT)} {rng.choice(CHAT)}")
    return "\n\n".join(turns)


def write(file: Path, count: int = COUNT) -> str:
    """Write the pairs to a file, unless it is there."""
    if not file.exists():
        lines = [json.dumps(pair.record()) + "\n" for pair in made_pairs(count)]
        file.write_text("".join(lines), "utf-8")
    return f"made talk: {file.name}"
