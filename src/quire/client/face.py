"""`Client` and `AsyncClient`: the methods of an open store over HTTP."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import iscoroutinefunction
from types import TracebackType
from typing import Any, Generic, ParamSpec, Self, TypeVar, Unpack, cast, overload

import httpx

from quire.client import block_calls, context_calls, document_calls, memory_calls, store_calls
from quire.client.call import Call, Pause, Steps
from quire.client.transport import Sender
from quire.core.aio import make_async
from quire.core.types import Options
from quire.errors import QuireError
from quire.recipes.session import Turn, check_session
from quire.system import clock

Params = ParamSpec("Params")
Result = TypeVar("Result")

TIMEOUT = 60.0
RETRIES = 3


class Sync:
    """Methods that return their results."""


class Async:
    """Methods that are coroutines."""


Mode = TypeVar("Mode", Sync, Async)


class _Part(Generic[Mode]):
    """What belongs to one domain; it sends calls, at once or as coroutines."""

    def __init__(self, send: Callable[[Call[Any] | Steps[Any]], Any]) -> None:
        self._send = send
        self._is_async = iscoroutinefunction(send)


class _Method(Generic[Params, Result]):
    """A method that sends calls: of a part that is async, a coroutine."""

    def __init__(self, call: Callable[Params, Call[Result] | Steps[Result]]) -> None:
        self._call = call
        self.__doc__ = call.__doc__

    @overload
    def __get__(self, part: None, owner: type) -> Self: ...
    @overload
    def __get__(self, part: _Part[Sync], owner: type) -> Callable[Params, Result]: ...
    @overload
    def __get__(
        self, part: _Part[Async], owner: type
    ) -> Callable[Params, Coroutine[Any, Any, Result]]: ...
    def __get__(self, part: _Part[Any] | None, owner: type) -> Any:
        """Return the method of a part."""
        if part is None:
            return self

        @wraps(self._call)
        def method(*args: Params.args, **kwargs: Params.kwargs) -> Any:
            return part._send(self._call(*args, **kwargs))  # noqa: SLF001 - a method of the part

        return method


class _Twin(Generic[Params, Result]):
    """A method that is a coroutine of both clients, as it is of an open store."""

    def __init__(self, method: _Method[Params, Result]) -> None:
        self._method = method
        self.__doc__ = f"{method.__doc__} Does not block the event loop."

    @overload
    def __get__(self, part: None, owner: type) -> Self: ...
    @overload
    def __get__(
        self, part: _Part[Any], owner: type
    ) -> Callable[Params, Coroutine[Any, Any, Result]]: ...
    def __get__(self, part: _Part[Any] | None, owner: type) -> Any:
        """Return the method of a part."""
        if part is None:
            return self
        method = self._method.__get__(part, owner)
        return method if part._is_async else make_async(method)  # noqa: SLF001 - of the part


class _Property(Generic[Result]):
    """What is no method of an open store: of a part that is async, a coroutine to await."""

    def __init__(self, call: Callable[[], Call[Result]]) -> None:
        self._call = call
        self.__doc__ = call.__doc__

    @overload
    def __get__(self, part: None, owner: type) -> Self: ...
    @overload
    def __get__(self, part: _Part[Sync], owner: type) -> Result: ...
    @overload
    def __get__(self, part: _Part[Async], owner: type) -> Coroutine[Any, Any, Result]: ...
    def __get__(self, part: _Part[Any] | None, owner: type) -> Any:
        """Return the value, or what to await for it."""
        return self if part is None else part._send(self._call())  # noqa: SLF001 - of the part


class _Documents(_Part[Mode]):
    """The records in the store, and the documents in it that are not files."""

    put = _Method(document_calls.put)
    put_async = _Twin(put)
    put_many = _Method(document_calls.put_many)
    put_many_async = _Twin(put_many)
    get = _Method(document_calls.get)
    get_async = _Twin(get)
    update = _Method(document_calls.update)
    update_async = _Twin(update)
    delete = _Method(document_calls.delete)
    delete_async = _Twin(delete)
    facets = _Method(document_calls.facets)
    text = _Method(document_calls.text)
    chunks = _Method(document_calls.chunks)
    list = _Method(document_calls.list_documents)


class _Memories(_Part[Mode]):
    """The memories in the store."""

    add = _Method(memory_calls.add_memory)
    get = _Method(memory_calls.get_memory)
    edit = _Method(memory_calls.edit_memory)
    forget = _Method(memory_calls.forget_memory)
    export = _Method(memory_calls.export_memories)
    import_lines = _Method(memory_calls.import_memories)
    list = _Method(memory_calls.list_memories)


class _Experiences(_Part[Mode]):
    """The experiences in the store."""

    start = _Method(memory_calls.start_experience)
    update = _Method(memory_calls.update_experience)
    resolve = _Method(memory_calls.resolve_experience)
    get = _Method(memory_calls.get_experience)
    list = _Method(memory_calls.list_experiences)


class _Principles(_Part[Mode]):
    """What experiences have in common."""

    refresh = _Method(memory_calls.refresh_principles)
    list = _Method(memory_calls.list_principles)


class _Blocks(_Part[Mode]):
    """The pages and blocks of a workspace."""

    put = _Method(block_calls.put_blocks)
    get = _Method(block_calls.get_block)
    edit = _Method(block_calls.edit_block)
    move = _Method(block_calls.move_block)
    share = _Method(block_calls.share_block)
    delete = _Method(block_calls.delete_block)
    tree = _Method(block_calls.block_tree)
    view = _Method(block_calls.view_block)
    export = _Method(block_calls.export_blocks)
    import_lines = _Method(block_calls.import_blocks)


class _Rules(_Part[Mode]):
    """Context files and the rules in them."""

    situate = _Method(context_calls.situate)
    situate_async = _Twin(situate)
    check = _Method(context_calls.check_rules)
    test = _Method(context_calls.evaluate_rules)
    list = _Method(context_calls.list_rules)


class _FeedbackLog(_Part[Mode]):
    """Which pieces of contexts helped."""

    add = _Method(memory_calls.add_feedback)
    forget = _Method(memory_calls.forget_feedback)
    list = _Method(memory_calls.list_feedback)


class _Agent(_Part[Mode]):
    """Pages for agents."""

    assemble_context = _Method(context_calls.assemble_context)
    assemble_context_async = _Twin(assemble_context)
    premortem = _Method(context_calls.premortem)
    premortem_async = _Twin(premortem)
    get_premortem_context = _Method(context_calls.get_premortem_context)
    get_premortem_context_async = _Twin(get_premortem_context)


class _Inspection(_Part[Mode]):
    """Other budgets, and the time of each step."""

    sweep = _Method(context_calls.sweep)
    times = _Method(context_calls.times)


class _Session(_Part[Mode]):
    """The contexts of a conversation; what it shows is kept here, and sent with each question."""

    def __init__(
        self, send: Callable[[Call[Any] | Steps[Any]], Any], options: Options, fresh: int | None
    ) -> None:
        super().__init__(send)
        check_session(options, fresh)
        self._options = options
        self._fresh = fresh
        self._lock = threading.Lock()
        self._last: Turn | None = None

    @property
    def last(self) -> Turn | None:
        """The last turn; None before the first."""
        return self._last

    @overload
    def ask(self: _Session[Sync], query: str) -> Turn: ...
    @overload
    def ask(self: _Session[Async], query: str) -> Coroutine[Any, Any, Turn]: ...
    def ask(self, query: str) -> Any:
        """Add what a question needs to what the session shows, and return the turn."""
        if self._is_async:
            return self._send(self._steps(query))
        with self._lock:
            return self._send(self._steps(query))

    async def ask_async(self, query: str) -> Turn:
        """Add what a question needs, without blocking the event loop."""
        method: Callable[[str], Any] = self.ask
        if self._is_async:
            turn: Turn = await method(query)
            return turn
        return await make_async(cast("Callable[[str], Turn]", method))(query)

    def _steps(self, query: str) -> Steps[Turn]:
        turn = yield from context_calls.continue_session(
            query, self._options, self._fresh, self._last
        )
        self._last = turn
        return turn


class _Face(_Part[Mode]):
    """The methods of both clients."""

    search = _Method(context_calls.search)
    search_async = _Twin(search)
    assemble = _Method(context_calls.assemble)
    assemble_async = _Twin(assemble)
    explain = _Method(context_calls.explain)
    why_not = _Method(context_calls.why_not)
    verify = _Method(context_calls.verify)
    replay = _Method(context_calls.replay)
    diff = _Method(context_calls.diff)
    receipt = _Method(context_calls.receipt_by_id)
    status = _Method(store_calls.status)
    roots = _Method(store_calls.roots)
    map = _Method(store_calls.map_code)
    index = _Method(store_calls.index)
    notes = _Property(store_calls.notes)
    viewer = _Property(store_calls.me)
    me = _Method(store_calls.me)

    def __init__(self, send: Callable[[Call[Any] | Steps[Any]], Any]) -> None:
        super().__init__(send)
        self.documents: _Documents[Mode] = _Documents(send)
        self.memories: _Memories[Mode] = _Memories(send)
        self.experiences: _Experiences[Mode] = _Experiences(send)
        self.principles: _Principles[Mode] = _Principles(send)
        self.blocks: _Blocks[Mode] = _Blocks(send)
        self.rules: _Rules[Mode] = _Rules(send)
        self.feedback: _FeedbackLog[Mode] = _FeedbackLog(send)
        self.agent: _Agent[Mode] = _Agent(send)
        self.inspection: _Inspection[Mode] = _Inspection(send)

    def session(self, *, fresh: int | None = None, **options: Unpack[Options]) -> _Session[Mode]:
        """Start a session: contexts of a conversation whose beginning stays the same."""
        return _Session(self._send, options, fresh)


class Client(_Face[Sync]):
    """An HTTP service with the methods of an open store.

    Calls that failed for a reason that may pass are sent again; writes carry a key, so that none is
    made twice. Close it when done, or use it in a `with` statement; threads may share it.

    Args:
        url: The address of the service, as in https://quire.example.com.
        token: What `quire token create` printed; empty for a service without tokens.
        timeout: Seconds to wait for an answer.
        retries: How often a call is sent again.
    """

    def __init__(  # nosec B107 - no token is no password
        self, url: str, token: str = "", *, timeout: float = TIMEOUT, retries: int = RETRIES
    ) -> None:
        super().__init__(self._run)
        self._sender = Sender(url, token, retries=retries)
        self._http = httpx.Client(
            base_url=self._sender.url, headers=self._sender.headers, timeout=timeout
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _run(self, call: Call[Result] | Steps[Result]) -> Result:
        if isinstance(call, Call):
            return self._exchange_all(call)
        answer: Any = None
        while True:
            try:
                step = call.throw(answer) if isinstance(answer, QuireError) else call.send(answer)
            except StopIteration as end:
                return cast("Result", end.value)
            if isinstance(step, Pause):
                clock.sleep(step.seconds)
                answer = None
                continue
            try:
                answer = self._exchange_all(step)
            except QuireError as error:
                answer = error

    def _exchange_all(self, call: Call[Result]) -> Result:
        key = {"Idempotency-Key": self._sender.new_key()} if call.writes else {}
        if not call.paged:
            return self._sender.understand(call, self._exchange(call, key, None))
        items: list[Any] = []
        cursor = None
        while True:
            page = self._exchange(call, key, cursor)
            cursor = self._sender.add_page(items, page, cursor)
            if cursor is None:
                return self._sender.understand(call, items)

    def _exchange(self, call: Call[Any], key: dict[str, str], cursor: str | None) -> Any:
        sent = self._sender.request(call, cursor)
        sent["headers"] |= key
        attempt = 0
        while True:
            response, problem = None, None
            try:
                response = self._http.request(**sent)
            except httpx.TransportError as error:
                problem = error
            if response is not None and response.is_success:
                return self._sender.read(response)
            pause = self._sender.pause(attempt, response)
            if pause is None:
                if response is None:
                    raise self._sender.unreachable(problem or OSError()) from problem
                return self._sender.read(response)
            clock.sleep(pause)
            attempt += 1


# --- async ---------------------------------------------------------------------------------------


class AsyncClient(_Face[Async]):
    """The same as `Client`, for programs with an event loop: each method is a coroutine.

    Args:
        url: The address of the service, as in https://quire.example.com.
        token: What `quire token create` printed; empty for a service without tokens.
        timeout: Seconds to wait for an answer.
        retries: How often a call is sent again.
    """

    def __init__(  # nosec B107 - no token is no password
        self, url: str, token: str = "", *, timeout: float = TIMEOUT, retries: int = RETRIES
    ) -> None:
        super().__init__(self._run)
        self._sender = Sender(url, token, retries=retries)
        self._http = httpx.AsyncClient(
            base_url=self._sender.url, headers=self._sender.headers, timeout=timeout
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _run(self, call: Call[Result] | Steps[Result]) -> Result:
        if isinstance(call, Call):
            return await self._exchange_all(call)
        answer: Any = None
        while True:
            try:
                step = call.throw(answer) if isinstance(answer, QuireError) else call.send(answer)
            except StopIteration as end:
                return cast("Result", end.value)
            if isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
                answer = None
                continue
            try:
                answer = await self._exchange_all(step)
            except QuireError as error:
                answer = error

    async def _exchange_all(self, call: Call[Result]) -> Result:
        key = {"Idempotency-Key": self._sender.new_key()} if call.writes else {}
        if not call.paged:
            return self._sender.understand(call, await self._exchange(call, key, None))
        items: list[Any] = []
        cursor = None
        while True:
            page = await self._exchange(call, key, cursor)
            cursor = self._sender.add_page(items, page, cursor)
            if cursor is None:
                return self._sender.understand(call, items)

    async def _exchange(self, call: Call[Any], key: dict[str, str], cursor: str | None) -> Any:
        sent = self._sender.request(call, cursor)
        sent["headers"] |= key
        attempt = 0
        while True:
            response, problem = None, None
            try:
                response = await self._http.request(**sent)
            except httpx.TransportError as error:
                problem = error
            if response is not None and response.is_success:
                return self._sender.read(response)
            pause = self._sender.pause(attempt, response)
            if pause is None:
                if response is None:
                    raise self._sender.unreachable(problem or OSError()) from problem
                return self._sender.read(response)
            await asyncio.sleep(pause)
            attempt += 1
