"""Models from a folder: tiny ones made here, whose vectors can be told by hand, and real ones."""

import json
import os
import shutil
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from quire.core.types import EmbedSettings
from quire.embed import quantize
from quire.embed.local import LocalEmbedder
from quire.errors import EmbedError, ModelError

pytestmark = pytest.mark.model

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "green", "blue", "quire"]
TABLE = np.array(
    [[0, 0, 9], [1, 1, 1], [5, 1, -2], [-1, 4, 2], [8, 0, 0], [0, 8, 0], [0, 0, 8], [3, 3, 3]],
    dtype=np.float32,
)
MEAN = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True, "include_prompt": True}
INT64, FLOAT = 7, 1


def message(*fields: tuple[int, int | str | bytes]) -> bytes:
    """Write a protobuf message: numbers as varints, the rest with its length before it."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def tensor_type(name: str, kind: int, dims: list[str]) -> bytes:
    shape = message(*((1, message((2, dim))) for dim in dims))
    return message((1, name), (2, message((1, message((1, kind), (2, shape))))))


def node(kind: str, inputs: list[str], output: str, *attributes: bytes) -> bytes:
    return message(
        *((1, name) for name in inputs), (2, output), (4, kind), *((5, data) for data in attributes)
    )


def lookup(output: str = "last_hidden_state", ids: str = "input_ids") -> bytes:
    return node("Gather", ["table", ids], output)


def highest(output: str, *axes: int) -> bytes:
    along = message((1, "axes"), *((8, axis) for axis in axes), (20, 7))
    flat = message((1, "keepdims"), (3, 0), (20, 2))
    return node("ReduceMax", ["last_hidden_state"], output, along, flat)


@dataclass(frozen=True)
class Graph:
    """An ONNX model that looks up a row of a table for each token."""

    nodes: tuple[bytes, ...] = (lookup(),)
    inputs: tuple[str, ...] = ("input_ids",)
    outputs: tuple[tuple[str, str], ...] = (("last_hidden_state", "bsd"),)
    table: NDArray[np.float32] = field(default_factory=lambda: TABLE)
    beside: str | None = None
    """The file that holds the table, where the model itself does not."""

    def encode(self) -> bytes:
        place: tuple[tuple[int, int | bytes], ...] = ((9, self.table.tobytes()),)
        if self.beside:
            place = ((13, message((1, "location"), (2, self.beside))), (14, 1))
        table = message(*((1, n) for n in self.table.shape), (2, FLOAT), (8, "table"), *place)
        graph = message(
            *((1, data) for data in self.nodes),
            (2, "tiny"),
            (5, table),
            *((11, tensor_type(name, INT64, ["b", "s"])) for name in self.inputs),
            *((12, tensor_type(name, FLOAT, list(dims))) for name, dims in self.outputs),
        )
        return message((1, 8), (8, message((2, 13))), (7, graph))


def tokenizer(
    words: list[str] = WORDS, *, opening: bool = True, closing: bool = True
) -> dict[str, Any]:
    begin = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}] if opening else []
    end = [{"SpecialToken": {"id": "[SEP]", "type_id": 0}}] if closing else []
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [*begin, {"Sequence": {"id": "A", "type_id": 0}}, *end],
            "pair": [],
            "special_tokens": {
                name: {"id": name, "ids": [words.index(name)], "tokens": [name]}
                for name in ("[CLS]", "[SEP]")
            },
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {word: number for number, word in enumerate(words)},
        },
    }


class Folder:
    """A folder with the tiny model, and with what a test puts there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.put("tokenizer.json", tokenizer())
        self.put("model.onnx", Graph())

    def put(self, name: str, content: Graph | dict[str, Any] | bytes) -> None:
        path = self.path / name
        path.parent.mkdir(exist_ok=True)
        if isinstance(content, Graph):
            path.write_bytes(content.encode())
        elif isinstance(content, dict):
            path.write_text(json.dumps(content))
        else:
            path.write_bytes(content)

    def open(self, query_prefix: str | None = None) -> LocalEmbedder:
        return LocalEmbedder(EmbedSettings(folder=str(self.path), query_prefix=query_prefix))

    def vector(self, text: str) -> bytes:
        return self.open().embed([text])[0]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "model")


def rows(*words: str) -> NDArray[np.float64]:
    return TABLE[[WORDS.index(word) for word in words]].astype(np.float64)


def test_the_first_token_speaks_for_the_text(folder: Folder) -> None:
    assert folder.vector("red green") == quantize(rows("[CLS]")[0])
    folder.put(
        "1_Pooling/config.json", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    )
    assert folder.vector("red green") == quantize(rows("[CLS]")[0])


def test_the_mean_speaks_for_the_text_if_the_folder_says_so(folder: Folder) -> None:
    folder.put("1_Pooling/config.json", MEAN)
    expected = rows("[CLS]", "red", "red", "blue", "[UNK]", "[SEP]").mean(axis=0)
    assert folder.vector("Red red BLUE violet") == quantize(expected)


def test_an_output_for_the_whole_text_is_taken_as_it_is(folder: Folder) -> None:
    expected = quantize(rows("[CLS]", "green", "[SEP]").max(axis=0))
    nodes = (lookup(), highest("sentence_embedding", 1))
    folder.put("model.onnx", Graph(nodes, outputs=(("sentence_embedding", "bd"),)))
    assert folder.vector("green") == expected
    both = (("last_hidden_state", "bsd"), ("sentence_embedding", "bd"))
    folder.put("model.onnx", Graph(nodes, outputs=both))
    assert folder.vector("green") == expected
    folder.put("1_Pooling/config.json", MEAN)
    assert folder.vector("green") == expected


def test_a_pooler_of_another_task_is_left_alone(folder: Folder) -> None:
    outputs = (("last_hidden_state", "bsd"), ("pooler_output", "bd"))
    folder.put("model.onnx", Graph((lookup(), highest("pooler_output", 1)), outputs=outputs))
    assert folder.vector("green") == quantize(rows("[CLS]")[0])


@pytest.mark.parametrize(
    ("input_name", "token"), [("attention_mask", "[UNK]"), ("token_type_ids", "[PAD]")]
)
def test_the_model_is_given_the_inputs_that_it_asks_for(
    folder: Folder, input_name: str, token: str
) -> None:
    # This model looks its rows up by another input: the mask is all ones, the types all zeros.
    folder.put("model.onnx", Graph((lookup(ids=input_name),), inputs=("input_ids", input_name)))
    assert folder.vector("red") == quantize(rows(token)[0])


def test_an_unknown_input_is_named(folder: Folder) -> None:
    folder.put("model.onnx", Graph(inputs=("input_ids", "position_ids")))
    with pytest.raises(
        ModelError, match="unsupported input position_ids; supported inputs: input_ids"
    ) as caught:
        folder.open()
    assert str(folder.path) in str(caught.value)


def test_the_limit_of_the_folder_cuts_texts_and_keeps_the_end(folder: Folder) -> None:
    folder.put("1_Pooling/config.json", MEAN)
    folder.put("sentence_bert_config.json", {"max_seq_length": 8, "do_lower_case": False})
    expected = rows("[CLS]", *["red"] * 6, "[SEP]").mean(axis=0)
    assert folder.vector("red " * 6 + "green blue") == quantize(expected)
    folder.put("sentence_bert_config.json", {"max_seq_length": None})
    expected = rows("[CLS]", *["red"] * 510, "[SEP]").mean(axis=0)
    assert folder.vector("red " * 510 + "green blue " * 90) == quantize(expected)


def test_a_tokenizer_that_closes_nothing_is_cut_at_the_end(folder: Folder) -> None:
    folder.put("tokenizer.json", tokenizer(closing=False))
    folder.put("1_Pooling/config.json", MEAN)
    folder.put("sentence_bert_config.json", {"max_seq_length": 8})
    expected = rows("[CLS]", *["red"] * 6, "green").mean(axis=0)
    assert folder.vector("red " * 6 + "green blue") == quantize(expected)


def test_a_text_of_no_tokens_at_all_is_refused(folder: Folder) -> None:
    folder.put("tokenizer.json", tokenizer(opening=False, closing=False))
    assert folder.vector("red") == quantize(rows("red")[0])
    with pytest.raises(EmbedError, match="without any token"):
        folder.vector(" ")


def test_a_folder_has_no_prefix_unless_the_settings_give_one(folder: Folder) -> None:
    folder.put("1_Pooling/config.json", MEAN)
    assert folder.open().embed_query("red") == folder.vector("red")
    assert folder.open(query_prefix="blue ").embed_query("red") == folder.vector("blue red")


def test_the_name_changes_with_all_that_changes_vectors(folder: Folder) -> None:
    names = [folder.open().model]
    assert names[0].startswith("onnx@")
    assert names[0].endswith("/3")
    folder.put("1_Pooling/config.json", MEAN)
    names.append(folder.open().model)
    folder.put("sentence_bert_config.json", {"max_seq_length": 300})
    names.append(folder.open().model)
    folder.put("tokenizer.json", tokenizer([*WORDS, "violet"]))
    names.append(folder.open().model)
    folder.put("model.onnx", Graph(table=TABLE + 1))
    names.append(folder.open().model)
    assert len(set(names)) == 5
    assert folder.open(query_prefix="ask: ").model == names[-1]


def test_the_name_changes_with_the_rounding(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = folder.open().model
    monkeypatch.setattr("quire.embed.model_files.VERSION", 2)
    assert folder.open().model != before


def test_a_folder_that_is_moved_keeps_its_name(folder: Folder) -> None:
    before = folder.open().model
    folder.path = folder.path.rename(folder.path.with_name("elsewhere"))
    assert folder.open().model == before


def test_weights_in_another_file_are_refused(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.put("model.onnx", Graph(beside="weights.bin"))
    folder.put("weights.bin", TABLE.tobytes())
    monkeypatch.chdir(folder.path)
    with pytest.raises(ModelError, match=r"model\.onnx: keeps its weights in other files"):
        folder.open()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("model.onnx", b"no model", r"model\.onnx: the model cannot be used"),
        ("model.onnx", b"", r"model\.onnx: the model cannot be used"),
        ("tokenizer.json", b"{", r"tokenizer\.json: the tokenizer cannot be used"),
        ("tokenizer.json", b"{}", r"tokenizer\.json: the tokenizer cannot be used"),
        ("1_Pooling/config.json", b"{", r"config\.json: not JSON"),
        ("1_Pooling/config.json", b"[" * 100_000, r"config\.json: not JSON"),
        ("1_Pooling/config.json", b"\xff\xfe\x00", r"config\.json: not JSON"),
        ("1_Pooling/config.json", b"[]", r"config\.json: expected a JSON object"),
        ("1_Pooling/config.json", b"{}", "unsupported pooling: none"),
        (
            "1_Pooling/config.json",
            b'{"pooling_mode_max_tokens": true}',
            "unsupported pooling: pooling_mode_max_tokens",
        ),
        (
            "1_Pooling/config.json",
            b'{"pooling_mode_cls_token": 1, "pooling_mode_mean_tokens": 1}',
            "cls_token and pooling",
        ),
        (
            "sentence_bert_config.json",
            b'{"max_seq_length": "many"}',
            "max_seq_length: must be a whole number of at least 8, not 'many'",
        ),
        (
            "sentence_bert_config.json",
            b'{"max_seq_length": 1}',
            "max_seq_length: must be a whole number of at least 8, not 1",
        ),
        (
            "sentence_bert_config.json",
            b'{"max_seq_length": true}',
            "max_seq_length: must be a whole number of at least 8, not True",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_named(
    folder: Folder, name: str, content: bytes, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    folder.put(name, content)
    with pytest.raises(ModelError, match=words) as caught:
        folder.open()
    assert str(folder.path / name) in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(folder: Folder, name: str) -> None:
    (folder.path / name).unlink()
    with pytest.raises(ModelError, match="No such file") as caught:
        folder.open()
    assert str(folder.path / name) in str(caught.value)


def test_a_model_smaller_than_its_tokenizer_fails_clearly(
    folder: Folder, capfd: pytest.CaptureFixture[str]
) -> None:
    folder.put("tokenizer.json", tokenizer([*WORDS, "violet"]))
    embedder = folder.open()
    with pytest.raises(ModelError, match="cannot embed 3 tokens"):
        embedder.embed(["violet"])
    with pytest.raises(ModelError, match="cannot embed 3 tokens"):
        embedder.embed(["red", "violet", "green"])
    assert embedder.embed(["red"]), "one bad text does not spoil the embedder"
    assert capfd.readouterr() == ("", "")


def test_an_output_of_another_shape_is_refused(folder: Folder) -> None:
    nodes = (lookup(), highest("all", 0, 1))
    folder.put("model.onnx", Graph(nodes, outputs=(("all", "d"),)))
    with pytest.raises(ModelError, match=r"`all` has the shape \(3,\)"):
        folder.open()


@pytest.mark.parametrize(
    ("value", "words"), [(np.nan, "infinite number or NaN"), (0.0, "all zeros")]
)
def test_a_model_that_gives_no_direction_is_refused(
    folder: Folder, value: float, words: str
) -> None:
    folder.put("model.onnx", Graph(table=np.full_like(TABLE, value)))
    with pytest.raises(EmbedError, match=words):
        folder.open()


def test_the_shipped_model_in_a_folder_gives_the_same_vectors(
    shipped: LocalEmbedder, tmp_path: Path
) -> None:
    real = Path(
        str(metadata.distribution("quire-context-model").locate_file("quire_context_model"))
    )
    for name in ("model.onnx", "tokenizer.json"):
        shutil.copy(real / name, tmp_path / name)
    embedder = LocalEmbedder(EmbedSettings(folder=str(tmp_path)))
    texts = ["red apples", "green pears"]
    assert embedder.embed(texts) == shipped.embed(texts)
    assert embedder.model.split("@")[1] == shipped.model.split("@")[1]


@pytest.mark.bench_data
@pytest.mark.skipif("BENCH_DATA" not in os.environ, reason="BENCH_DATA is not set")
def test_minilm(tmp_path: Path) -> None:
    models = Path(os.environ["BENCH_DATA"]) / "models"
    (tmp_path / "model.onnx").symlink_to(models / "minilm_int8.onnx")
    (tmp_path / "tokenizer.json").symlink_to(models / "tokenizer.json")
    embedder = LocalEmbedder(EmbedSettings(folder=str(tmp_path), threads=2))
    assert embedder.dims == 384
    vectors = embedder.embed(
        [
            "A cat sits on the mat.",
            "The kitten is lying on a rug.",
            "Compile the kernel with gcc.",
            "long " * 2000,
        ]
    )
    near, far = (
        int(
            np.frombuffer(vectors[0], np.int8).astype(int)
            @ np.frombuffer(vectors[i], np.int8).astype(int)
        )
        for i in (1, 2)
    )
    assert near > 2 * far
    assert embedder.embed_query("A cat sits on the mat.") == vectors[0]
    embedder.close()


def test_what_stands_before_questions_is_in_the_folder(folder: Folder) -> None:
    folder.put("1_Pooling/config.json", MEAN)
    plain = folder.open()
    folder.put("query_prefix.txt", b"blue \n")
    prefixed = folder.open()
    assert prefixed.model == plain.model
    assert prefixed.embed(["red"]) == plain.embed(["red"])
    assert prefixed.embed_query("red") == folder.vector("blue red") != plain.embed_query("red")
    assert folder.open(query_prefix="").embed_query("red") == plain.embed_query("red")
    folder.put("query_prefix.txt", b"\xff")
    with pytest.raises(ModelError, match="not UTF-8"):
        folder.open()
