"""Code as a user writes it: the five most common uses, and what lies beside them."""

# ruff: noqa: T201 - users print

from __future__ import annotations

import asyncio

import quire
from quire import Budget, Context, Filter, FormattedContext, Memory, Quire, SearchResult, Viewer


def index() -> None:
    with quire.open(".") as q:
        result = q.index()
        print(result.indexed, result.removed)


def assemble(q: Quire) -> str:
    context: Context = q.assemble("how are tokens refreshed?", budget=4000, model="gpt-4o")
    for source in context.sources:
        print(source.path, source.lines)
    print(context.tokens, context.receipt["hash"])
    return context.text


def search(q: Quire) -> None:
    for hit in q.search("token refresh", paths=["docs/**"], kinds=["code"], since="2026-01-31"):
        path: str = hit.path
        lines: tuple[int, int] = hit.lines
        print(path, lines, hit.title, hit.score, hit.text)
    result: SearchResult = q.search("token refresh", where=Filter(kinds=("code",)), k=3)
    print(len(result), result[0].path, [hit.path for hit in result[1:]])


def remember(q: Quire) -> Memory:
    q.memories.add("Deploys happen on Tuesdays.")
    q.memories.add("Nobody deploys on Fridays.", category="decision", importance=0.9, at=1_700_000)
    return q.memories.list()[0]


def ask_as_an_agent(q: Quire) -> None:
    page: FormattedContext = q.agent.assemble_context("fix the login", ["memories", "code"])
    for item in page:
        print(item.source, item.relevance, item.content)
    context = q.assemble("fix the login", recipe="agent", viewer=Viewer("alice", groups=("dev",)))
    for source in context:
        print(source.path, source.lines)
    for part in context.items:
        print(part.section, part.text)


async def ask_at_the_same_time(q: Quire) -> tuple[SearchResult, Context]:
    result, context = await asyncio.gather(
        q.search_async("token refresh", k=5), q.assemble_async("token refresh", budget=1000)
    )
    return result, context


def administer(q: Quire) -> None:
    q.access.allow("hr/**", ["alice", "@hr"])
    for record in q.access.check("alice"):
        print(record.path)
    started = q.experiences.start("make the login faster", domain="debugging").value
    q.experiences.resolve(started.id, "confirmed", lesson="cache the session")
    for principle in q.principles.refresh().value:
        print(principle.text)
    for context in q.audit.contexts(to="alice"):
        print(context["receipt"])
    for mistake in q.rules.check().mistakes:
        print(mistake.path, mistake.line)
    print(Budget(4000).available, quire.count_tokens("how many?"))
