"""Questions about countries, one and two hops, from the World Factbook (public domain)."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

from train.pairs import Pair

ASKED = {
    "Climate": ("What is the weather like in {}?", "climate of {}", "How hot or cold does {} get?"),
    "Terrain": ("What does the landscape of {} look like?", "terrain of {}"),
    "Location": ("Where in the world does {} lie?", "On which continent is {}?"),
    "Natural resources": ("Which raw materials does {} have?", "What can be mined in {}?"),
    "Natural hazards": ("Which disasters threaten {}?", "What dangers does nature hold in {}?"),
    "Background": ("How did {} become independent?", "What happened in the past of {}?"),
    "Ethnic groups": ("Which peoples live in {}?", "Who makes up the population of {}?"),
    "Languages": ("Which tongues are spoken in {}?", "What do people speak in {}?"),
    "Religions": ("What do people in {} believe?", "Which faiths are practised in {}?"),
    "Population distribution": ("Where do most people in {} live?", "settlement of {}"),
    "Capital": ("What is the seat of government of {}?", "Which city is the capital of {}?"),
    "Executive branch": ("Who heads the state of {}?", "Who leads the government of {}?"),
    "Legislative branch": ("How is the parliament of {} elected?", "Who makes laws in {}?"),
    "Judicial branch": ("What is the highest court of {}?", "Who appoints judges in {}?"),
    "Economic overview": ("How does {} earn its living?", "What does the economy of {} rest on?"),
    "Industries": ("What is manufactured in {}?", "Which branches of industry does {} have?"),
    "Agricultural products": ("What do farmers in {} grow?", "Which crops come from {}?"),
    "Exports - commodities": ("What does {} sell abroad?", "Which goods does {} ship out?"),
    "Exports - partners": ("Who buys from {}?", "Which countries does {} sell to?"),
    "Flag description": (
        "What does the banner of {} look like?",
        "What do the flag's colours mean in {}?",
    ),
    "National anthem": ("Which song stands for {}?", "Who wrote the national song of {}?"),
    "Independence": ("When did {} become free?", "From whom did {} gain independence?"),
    "Land boundaries": ("Which neighbours does {} have?", "Who shares a border with {}?"),
    "Environment - current issues": ("What pollutes {}?", "Which environmental problems has {}?"),
    "Military and security forces": ("What are the armed forces of {} called?", "army of {}"),
    "Major urban areas - population": ("What are the big cities of {}?", "largest towns of {}"),
    "Airports": ("How many airfields does {} have?", "Can one fly to {}?"),
}
BRIDGES = (
    ("National symbol(s)", "the country whose national symbol is the {}"),
    ("Capital", "the country whose capital is {}"),
    ("Executive branch", "the country led by {}"),
    ("Independence", "the country that became independent on {}"),
)


def fact_pairs(texts: list[str], origin: str, rng: random.Random) -> Iterator[Pair]:
    """Yield questions about each country, and about countries named by another of their facts."""
    for text in texts:
        facts = dict(_facts(json.loads(text)))
        name = _name(facts)
        if not name:
            continue
        passages = {key: f"{name}: {key}\n{value}" for key, value in facts.items()}
        asked = [key for key in ASKED if len(facts.get(key, "")) > 60]
        for key in asked:
            others = [
                passages[other] for other in rng.sample(asked, min(3, len(asked))) if other != key
            ]
            for question in ASKED[key]:
                yield Pair("facts", question.format(name), passages[key], others[:2], origin)
        for key, wording in BRIDGES:
            value = _bridge(key, facts)
            if not value or len(passages.get(key, "")) < 60:
                continue
            for target in rng.sample(asked, min(6, len(asked))):
                if target == key:
                    continue
                question = rng.choice(ASKED[target]).format(wording.format(value))
                others = [passages[other] for other in asked if other not in {key, target}]
                near = rng.sample(others, min(2, len(others)))
                yield Pair("hops", question, passages[key], near, origin)
                yield Pair("hops", question, passages[target], near, origin)


def _facts(page: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for section in page.values():
        for key, value in section.items():
            if text := _flat(value):
                yield key, text


def _flat(value: Any) -> str:
    if isinstance(value, str):
        return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", value)).strip()
    if not isinstance(value, dict):
        return ""
    if set(value) == {"text"}:
        return _flat(value["text"])
    parts = [f"{key}: {_flat(one)}" for key, one in value.items() if key != "note"]
    return "; ".join(part for part in parts if not part.endswith(": "))


def _name(facts: dict[str, str]) -> str:
    found = re.search(r"conventional short form: ([^;]+)", facts.get("Country name", ""))
    name = found[1].strip() if found else ""
    return "" if name.lower() in {"", "none"} else name


def _bridge(key: str, facts: dict[str, str]) -> str:
    text = facts.get(key, "")
    if key == "Capital":
        found = re.search(r"name: ([^;(]+)", text)
    elif key == "Executive branch":
        found = re.search(r"chief of state: ((?:\w+ ){1,3}[A-Z][A-Z'-]{3,})", text)
    elif key == "Independence":
        found = re.match(r"(\d+ \w+ \d{4})", text)
    else:
        found = re.match(r"([^;,]+)", text)
    return (
        found[1].strip().title()
        if found and key == "Executive branch"
        else (found[1].strip() if found else "")
    )
