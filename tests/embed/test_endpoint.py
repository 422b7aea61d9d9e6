"""An endpoint that speaks the protocol over a real socket, well and badly."""

import socket
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

from quire.core.types import EmbedSettings
from quire.embed import open_embedder, quantize
from quire.embed.http import HttpEmbedder
from quire.errors import ConfigError, EmbedError, EndpointError
from tests.serving import KEY, VARIABLE, Endpoint, Reply, Step, served


def numbers(text: str) -> list[float]:
    """A vector that is different for each text."""
    return [1.0 + len(text), *(float(text.encode().count(c)) for c in b"abcdef ")]


def entry(index: int, embedding: Any) -> dict[str, Any]:
    return {"object": "embedding", "index": index, "embedding": embedding}


def good(question: dict[str, Any]) -> Reply:
    texts = question["input"]
    return Reply({"object": "list", "data": [entry(i, numbers(t)) for i, t in enumerate(texts)]})


def answer(*entries: Any) -> Reply:
    return Reply({"data": list(entries)})


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with served(good) as server:
        yield server


class Client:
    """An embedder for the endpoint, and the pauses that it would have made."""

    def __init__(self, endpoint: Endpoint, **changes: Any) -> None:
        settings: dict[str, Any] = {
            "url": endpoint.url,
            "model": "test-model",
            "key_env": VARIABLE,
            "timeout": 10.0,
        }
        self.pauses: list[float] = []
        self.embedder = HttpEmbedder(
            EmbedSettings(provider="http", **settings | changes), sleep=self.pauses.append
        )


@pytest.fixture
def client(endpoint: Endpoint) -> Iterator[Client]:
    opened = Client(endpoint)
    yield opened
    opened.embedder.close()


def test_texts_become_vectors(endpoint: Endpoint, client: Client) -> None:
    texts = ["abc", "face", "xyz"]
    assert client.embedder.embed(texts) == [quantize(numbers(text)) for text in texts]
    assert endpoint.questions == [
        {"model": "test-model", "input": texts, "encoding_format": "float"}
    ]
    assert endpoint.paths == ["/v1/embeddings"]
    assert endpoint.keys == [f"Bearer {KEY}"]
    assert client.embedder.dims == 8
    assert client.embedder.model == "http:test-model/8"
    assert len(endpoint.questions) == 1, "the first answer has told the dimensions"


def test_nothing_to_embed_asks_nothing(endpoint: Endpoint, client: Client) -> None:
    assert client.embedder.embed([]) == []
    assert endpoint.questions == []


def test_the_name_asks_once_for_the_dimensions(endpoint: Endpoint, client: Client) -> None:
    assert client.embedder.model == "http:test-model/8"
    assert client.embedder.model == "http:test-model/8"
    assert client.embedder.dims == 8
    assert [question["input"] for question in endpoint.questions] == [["quire"]]


def test_many_texts_go_in_batches(endpoint: Endpoint) -> None:
    client = Client(endpoint, batch=3)
    texts = ["a" * n for n in range(1, 9)]
    assert client.embedder.embed(texts) == [quantize(numbers(text)) for text in texts]
    assert [question["input"] for question in endpoint.questions] == [
        texts[:3],
        texts[3:6],
        texts[6:],
    ]
    client.embedder.close()


def test_questions_have_a_prefix_only_if_the_settings_give_one(
    endpoint: Endpoint, client: Client
) -> None:
    prefixed = Client(endpoint, query_prefix="query: ")
    assert prefixed.embedder.embed_query("abc") == quantize(numbers("query: abc"))
    assert client.embedder.embed_query("abc") == quantize(numbers("abc"))
    prefixed.embedder.close()


def test_awkward_texts_arrive_whole(endpoint: Endpoint, client: Client) -> None:
    texts = ["", " ", "\x00\n", "é你😀", "lone \ud800 half", "\ud83d\ude00 pair"]
    assert len(client.embedder.embed(texts)) == 6
    sent = endpoint.questions[0]["input"]
    assert sent == [" ", " ", "\x00\n", "é你😀", "lone \ufffd half", "😀 pair"]


def test_no_key_no_header(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    for value in (None, "", "  "):
        if value is None:
            monkeypatch.delenv(VARIABLE)
        else:
            monkeypatch.setenv(VARIABLE, value)
        client = Client(endpoint)
        client.embedder.embed(["abc"])
        client.embedder.close()
    assert endpoint.keys == [None, None, None]


def test_space_around_a_key_is_no_part_of_it(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, f" {KEY}\n")
    client = Client(endpoint)
    client.embedder.embed(["abc"])
    client.embedder.close()
    assert endpoint.keys == [f"Bearer {KEY}"]


def test_vectors_are_put_into_the_order_of_the_texts(endpoint: Endpoint, client: Client) -> None:
    def shuffled(question: dict[str, Any]) -> Reply:
        return answer(*[entry(i, numbers(question["input"][i])) for i in (2, 0, 1)])

    endpoint.steps = [shuffled]
    texts = ["abc", "face", "xyz"]
    assert client.embedder.embed(texts) == [quantize(numbers(text)) for text in texts]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_what_may_pass_is_tried_again(endpoint: Endpoint, client: Client, status: int) -> None:
    endpoint.steps = [Reply("busy", status), Reply("busy", status), Reply("busy", status)]
    assert client.embedder.embed(["abc"]) == [quantize(numbers("abc"))]
    assert client.pauses == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0"}, 0.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"Retry-After": "86400"}, 60.0),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "inf"}, 0.5),
        ({"Retry-After": "nan"}, 0.5),
        ({"Retry-After": "soon"}, 0.5),
        (
            {
                "Retry-After": "Wed, 21 Oct 2015 07:28:09 GMT",
                "Date": "Wed, 21 Oct 2015 07:28:00 GMT",
            },
            9.0,
        ),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:09 GMT"}, 0.5),
        (
            {
                "Retry-After": "Wed, 21 Oct 2015 07:28:09 GMT",
                "Date": "Wed, 21 Oct 2015 07:28:00 -0000",
            },
            0.5,
        ),
    ],
)
def test_the_endpoint_may_ask_for_a_pause(
    endpoint: Endpoint, client: Client, headers: dict[str, str], pause: float
) -> None:
    endpoint.steps = [Reply("slow down", 429, headers)]
    assert client.embedder.embed(["abc"]) == [quantize(numbers("abc"))]
    assert client.pauses == [pause]


def test_the_pauses_end(endpoint: Endpoint) -> None:
    client = Client(endpoint, retries=9)
    endpoint.steps = [Reply("down", 503)] * 10
    with pytest.raises(
        EndpointError, match=r"gave up after 10 tries; the last one: status 503.*down"
    ):
        client.embedder.embed(["abc"])
    assert client.pauses == [0.5, 1, 2, 4, 8, 16, 32, 60, 60]
    client.embedder.close()


def test_no_retries_is_one_try(endpoint: Endpoint) -> None:
    client = Client(endpoint, retries=0)
    endpoint.steps = [Reply("down", 500)]
    with pytest.raises(EndpointError, match="1 tries"):
        client.embedder.embed(["abc"])
    assert (client.pauses, len(endpoint.questions)) == ([], 1)
    client.embedder.close()


@pytest.mark.parametrize("status", [302, 400, 401, 403, 404, 413, 422])
def test_what_will_not_pass_is_not_tried_again(
    endpoint: Endpoint, client: Client, status: int
) -> None:
    endpoint.steps = [Reply({"error": "no such model"}, status, {"Location": "/elsewhere"})]
    with pytest.raises(EndpointError, match=rf"status {status}: .*no such model") as caught:
        client.embedder.embed(["abc"])
    assert f"{endpoint.url}/embeddings" in str(caught.value)
    assert (client.pauses, len(endpoint.questions)) == ([], 1)


def test_no_answer_in_time(endpoint: Endpoint) -> None:
    client = Client(endpoint, timeout=0.1, retries=1)
    endpoint.steps = [Reply("", held=True), Reply("", held=True)]
    with pytest.raises(EndpointError, match="gave up after 2 tries; the last one: timed out"):
        client.embedder.embed(["abc"])
    assert client.pauses == [0.5]
    assert client.embedder.embed(["abc"]) == [quantize(numbers("abc"))], "the next call may succeed"
    client.embedder.close()


def test_nobody_listens(endpoint: Endpoint) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        client = Client(endpoint, url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1", retries=2)
        with pytest.raises(EndpointError, match=r"gave up after 3 tries.*refused"):
            client.embedder.embed(["abc"])
    assert client.pauses == [0.5, 1.0]
    client.embedder.close()


@pytest.mark.parametrize("host", ["a..b", "x" * 70])
def test_a_host_that_cannot_be_looked_up(endpoint: Endpoint, host: str) -> None:
    client = Client(endpoint, url=f"http://{host}/v1", retries=0)
    with pytest.raises(EndpointError, match=host):
        client.embedder.embed(["abc"])
    client.embedder.close()


def test_a_connection_that_breaks_is_tried_again(endpoint: Endpoint, client: Client) -> None:
    endpoint.steps = [Reply(b"{}", headers={"Content-Length": "5000", "Connection": "close"})]
    assert client.embedder.embed(["abc"]) == [quantize(numbers("abc"))]
    assert client.pauses == [0.5]


BAD_ANSWERS: list[tuple[Reply, str]] = [
    (Reply(b"<html>proxy</html>"), "not JSON: <html>proxy"),
    (Reply(b""), r"not JSON: \(nothing\)"),
    (Reply(b'{"data": ['), "not JSON"),
    (Reply(b"\xff\xfe\xfd"), "not JSON"),
    (Reply(b"[" * 200_000), "not JSON"),
    (Reply(b"{}", headers={"Content-Encoding": "gzip"}), "the exchange failed"),
    (Reply({"error": {"message": "overloaded"}}), "no list `data`.*overloaded"),
    (Reply([]), "no list `data`"),
    (Reply(None), "no list `data`"),
    (answer(entry(0, [1.0, 2.0])), "2 texts were sent and 1 vectors came back"),
    (answer(), "2 texts were sent and 0 vectors"),
    (answer(entry(0, [1.0]), entry(1, [1.0]), entry(2, [1.0])), "3 vectors came back"),
    (answer(entry(0, [1.0]), entry(0, [1.0])), "index 0"),
    (answer(entry(0, [1.0]), entry(2, [1.0])), "index 2"),
    (answer(entry(0, [1.0]), entry(-1, [1.0])), "index -1"),
    (answer({"embedding": [1.0]}, {"embedding": [1.0]}), "index None"),
    (answer(entry(0, [1.0]), {"index": True, "embedding": [1.0]}), "index True"),
    (answer(entry(0, [1.0]), {"index": "1", "embedding": [1.0]}), "index '1'"),
    (answer([1.0], [1.0]), "index None"),
    (answer(entry(0, [1.0]), {"index": 1}), "not a list of numbers"),
    (answer(entry(0, [1.0]), entry(1, "AACAPwAAAEA=")), "not a list of numbers"),
    (answer(entry(0, [1.0]), entry(1, ["1.0"])), "not a list of numbers"),
    (answer(entry(0, [1.0]), entry(1, [True])), "not a list of numbers"),
    (answer(entry(0, [1.0]), entry(1, [None])), "not a list of numbers"),
    (answer(entry(0, [1.0]), entry(1, [[1.0]])), "not a list of numbers"),
    (answer(entry(0, [1.0]), entry(1, [])), "one row of numbers"),
    (answer(entry(0, [1.0, 2.0]), entry(1, [1.0, float("nan")])), "infinite number or NaN"),
    (answer(entry(0, [1.0, 2.0]), entry(1, [1.0, float("inf")])), "infinite"),
    (answer(entry(0, [1.0, 2.0]), entry(1, [1.0, 10**400])), "list of numbers"),
    (answer(entry(0, [1.0, 2.0]), entry(1, [0.0, 0.0])), "all zeros"),
    (answer(entry(0, [1.0, 2.0]), entry(1, [1.0, 2.0, 3.0])), r"different dimensions.*\[2, 3\]"),
]


@pytest.mark.parametrize(("reply", "words"), BAD_ANSWERS)
def test_a_bad_answer_is_refused_and_described(
    endpoint: Endpoint, client: Client, reply: Reply, words: str
) -> None:
    endpoint.steps = [reply]
    with pytest.raises(EndpointError, match=words) as caught:
        client.embedder.embed(["abc", "face"])
    assert str(caught.value).startswith(f"{endpoint.url}/embeddings: ")
    assert len(str(caught.value)) < 400
    assert (client.pauses, len(endpoint.questions)) == ([], 1)
    assert client.embedder.dims == 8, "a bad answer teaches no dimensions"


def test_dimensions_that_change_between_answers_are_refused(
    endpoint: Endpoint, client: Client
) -> None:
    client.embedder.embed(["abc"])
    endpoint.steps = [answer(entry(0, [1.0, 2.0]))]
    with pytest.raises(EndpointError, match=r"different dimensions came back: \[2, 8\]"):
        client.embedder.embed(["abc"])


def test_a_closed_embedder_says_so(endpoint: Endpoint, client: Client) -> None:
    client.embedder.close()
    client.embedder.close()
    with pytest.raises(EmbedError, match="closed"):
        client.embedder.embed(["abc"])


def echo(status: int) -> Step:
    """An endpoint that repeats the key, as careless ones do."""
    return Reply({"error": f"Incorrect API key provided: {KEY}. " + "x" * 112 + KEY}, status)


@pytest.mark.parametrize(
    "step",
    [
        echo(400),
        echo(401),
        echo(429),
        echo(500),
        Reply(f"<html>{KEY}</html>".encode()),
        Reply({"error": KEY}),
        answer({"index": KEY, "embedding": [1.0]}),
        Reply("", held=True),
        Reply(b"{}", headers={"Content-Length": "50", "Connection": "close"}),
        Reply(b"{}", headers={"Content-Encoding": "gzip"}),
    ],
)
def test_the_key_is_in_no_message(endpoint: Endpoint, step: Step) -> None:
    client = Client(endpoint, retries=1, timeout=0.2)
    endpoint.steps = [step, step]
    with pytest.raises(EndpointError) as caught:
        client.embedder.embed(["abc"])
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    for part in (KEY, KEY[:20], KEY[-12:]):
        assert part not in shown
        assert part not in repr(client.embedder)
    client.embedder.close()


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel", "nul\x00", "emoji😀"])
def test_a_key_that_no_header_can_carry_is_refused(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    if "\x00" in key:
        monkeypatch.setattr("os.environ", {VARIABLE: key})
    else:
        monkeypatch.setenv(VARIABLE, key)
    with pytest.raises(ConfigError, match=f"the key in {VARIABLE}") as caught:
        Client(endpoint)
    assert key not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"url": None}, r"embed\.url: the address is missing"),
        ({"url": ""}, r"embed\.url: the address is missing"),
        (
            {"url": "ftp://host/v1"},
            r"embed\.url: must begin with http:// or https://, not 'ftp://host/v1'",
        ),
        ({"url": "host/v1"}, "must begin with http"),
        ({"url": "http://"}, "must begin with http"),
        ({"url": "http://[::1/v1"}, "not an address"),
        ({"url": "http://host:99999999/v1"}, "99999999 is not a port"),
        ({"url": "https://host/v1?api-version=1"}, r"before any `\?`"),
        ({"url": "https://host/v1#top"}, r"before any `\?`"),
        ({"model": None}, r"embed\.model: required with the provider"),
        ({"batch": 0}, r"embed\.batch: must be at least 1, not 0"),
        ({"retries": -1}, r"embed\.retries: must be at least 0, not -1"),
        ({"timeout": 0.0}, r"embed\.timeout: must be more than 0, not 0"),
        ({"timeout": float("nan")}, r"embed\.timeout: must be more than 0, not nan"),
    ],
)
def test_wrong_settings_are_named(endpoint: Endpoint, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Client(endpoint, **changes)


def test_an_address_with_a_password_is_refused_without_showing_it(endpoint: Endpoint) -> None:
    with pytest.raises(
        ConfigError, match=r"embed\.url: must not contain a name or password"
    ) as caught:
        Client(endpoint, url="https://user:hunter2@host/v1")
    assert "hunter2" not in repr(caught.value)


def test_a_slash_at_the_end_of_the_address_does_not_matter(endpoint: Endpoint) -> None:
    embedder = open_embedder(EmbedSettings(provider="http", url=endpoint.url + "/", model="m"))
    assert embedder is not None
    assert embedder.embed(["abc"]) == [quantize(numbers("abc"))]
    assert endpoint.paths == ["/v1/embeddings"]
    embedder.close()
