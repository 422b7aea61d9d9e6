"""Texts on which counters differ: scripts, code, white space, and what looks like control."""

# ruff: noqa: RUF001 - letters that look like others are what some samples are for
from __future__ import annotations

from hypothesis import strategies as st

TEXTS = {
    "english": "It's 3 o'clock; they'LL be here at 4.30pm, WON'T they? O'Neill's don't-care e-mails…",
    "german": "Die Größe der Straßenbahn-Haltestelle überrascht: 12.345,67 € für 1½ Fahrkarten.",
    "python": "class A(B):\n    def f(self, *, x: int = 0) -> dict[str, int]:\n\t\treturn {**self.y, 'k': x**2}\n",
    "rust": 'fn main() {\n    let v: Vec<&str> = "a/b//c".split("//").collect();\n    println!("{v:?}");\n}\n',
    "javascript": "const f = async (x) => (await fetch(`/api/${x}?q=1`)).json() ?? null; // ok\r\n",
    "sql": "SELECT a.*, COUNT(*) FROM t a LEFT JOIN u ON a.id=u.id WHERE x<>'it''s' GROUP BY 1;--\n",
    "c": '#include <stdio.h>\nint main(void){for(int i=0;i<10;++i)printf("%d\\n",i);return 0;}\n',
    "json": '{"a": [1, 2.5e-10, null], "b\\u00e9": {"c": "\\n"}, "long_snake_case_name": true}',
    "markdown": "# Title\n\n- [ ] *one*\n- **two** `code`\n\n| a | b |\n|---|---|\n\n```sh\n$ ls -la | wc\n```\n",
    "chinese": "中文分词是自然语言处理的基础任务之一，价格是１２３４元。《红楼梦》第1回",
    "japanese": "日本語の文章をトークンに分割する。ｶﾀｶﾅとひらがな、漢字が混ざる！",
    "korean": "한국어 텍스트를 토큰으로 나눈다. 띄어쓰기가 중요하다! ㅋㅋㅋ",
    "arabic": "النص العربي يُقسَّم إلى وحدات، والأرقام ١٢٣٤ أيضًا؟ «نعم»",
    "hindi": "हिन्दी पाठ को टोकन में बाँटा जाता है। संख्या १२३४ और क्ष्म्य।",
    "thai": "ภาษาไทยไม่มีช่องว่างระหว่างคำ กำลังทดสอบ",
    "hebrew": "שָׁלוֹם עוֹלָם, מה שלומך?",
    "emoji": "👩‍👩‍👧‍👦 family, 🇩🇪🇫🇷 flags, 👍🏽 thumbs, 1️⃣ key, ❤️‍🔥 heart, 🏴󠁧󠁢󠁳󠁣󠁴󠁿",
    "spaces": "a  b   c    d" + " " * 50 + "e" + " " * 200,
    "tabs": "\t\tx\t \ty \t\n\t\n\t\t\t",
    "line ends": "a\r\nb\r\n\r\n\r\nc\rd\n\n\n\ne\x0bf\x0cg\x85h\u2028i\u2029j",
    "odd spaces": "a\u00a0b\u2003c\u3000d\u202fe\u200bf\ufeffg\u1680h",
    "digits": "1 12 123 1234 12345 1234567890 3.14159 0x1F 1e-9 ²³ ½ Ⅷ ٣ ४",
    "punctuation": "!!!???...---___///\\\\\\***((()))[[[]]]{{{}}}<<<>>>|||~~~```^^^%%%$$$###@@@",
    "control characters": "\x00\x01\x02 a\x00b \x1b[31mred\x1b[0m \x7f\x80\x9f",
    "accents": "e\u0301 a\u030a o\u0308\u0304 \u1e69 s\u0323\u0307 Å Å K K ﬁ ſ İ ı ǅ",
    "long word": "Donaudampfschifffahrtsgesellschaftskapitänsmütze" * 20,
    "base64": "TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24sIGJ1dCBieSB0aGlz" * 10,
    "end of unicode": "\U0010ffff\U000f0000\ue000\ufffd\ufffe\uffff",
    "empty": "",
}

LOOK_ALIKES = (
    "<|endoftext|> <|endofprompt|> <|fim_prefix|> <|im_start|>user<|im_end|> <|system|> <|think|>"
    "<|begin_of_text|><|start_header_id|> <|eot_id|> <|python_tag|> <|reserved_special_token_9|>"
    "<s> </s> <unk> <pad> [INST] [/INST] [TOOL_CALLS] [AVAILABLE_TOOLS] <bos> <eos>"
    "<start_of_turn>user<end_of_turn> <unused7> <mask> [multimodal]"
    "<｜begin▁of▁sentence｜> <｜User｜> <｜Assistant｜> <think> </think> <tool_call> <|EOT|>"
)
"""Control tokens of all vocabularies, and some that the engine adds to them."""

_SNIPPETS = (
    *(
        "'s",
        "'S",
        "'ll",
        "'LL",
        "'ve",
        "'re",
        "\u2019s",
        "'\u017f",
        "'s's",
        "Aa",
        "aA",
        "AAa",
        "aAA",
    ),
    *(
        "\r\n",
        "\r\n\r\n",
        " \t",
        " \n",
        "\n\n",
        "  ",
        "...",
        "///",
        "//\n",
        "123",
        "1234",
        "\ufb01",
    ),
    *("\u0301", "\u200d", "👩", "🇩🇪", "中", "の", "한", "ح", "ह", "\u094d"),
    *("<|", "|>", "<|endoftext|>", "[INST]", "<s>", "<table>", "</td>"),
)

pieces = st.one_of(
    st.text(max_size=8),
    st.sampled_from(_SNIPPETS),
    st.text(st.characters(categories=("Zs", "Cc", "Zl", "Zp")), max_size=6),
    st.text(st.characters(categories=("L", "M", "N")), max_size=8),
    st.text(st.sampled_from("abcXYZ019 .,'\n\t/-_"), max_size=20),
)
texts = st.lists(pieces, max_size=12).map("".join)
"""Random text of all kinds, from snippets where tokenizers tend to differ."""
