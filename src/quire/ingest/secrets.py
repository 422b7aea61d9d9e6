"""Detect secrets in file names and texts.

By name: files that usually hold keys or passwords. By content: private keys, tokens whose format
shows who issued them, and long random values assigned to a name such as `api_key`. Text that
merely mentions a secret (a pattern, a placeholder, an example in a manual) is not reported. A
reason names the line and the kind, never the secret itself.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

HOW_TO_INCLUDE = "`[ingest] secrets = true` includes it"

SECRET_NAMES = (
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.kdbx",
    "*.jks",
    "*.keystore",
    "*.ppk",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    ".dockerconfigjson",
    "credentials",
    "credentials.json",
    "credentials.csv",
    "credentials.xml",
    "credentials.y*ml",
    "client_secret*.json",
    "secrets.json",
    "secrets.toml",
    "secrets.y*ml",
)
EXAMPLE_NAMES = (".env.*example*", ".env.*sample*", ".env.*template*", ".env.dist", ".env.tpl")

TOKENS = (
    # kind, a substring that each token has, pattern
    ("an AWS access key", "AKIA", r"\bAKIA[A-Z2-7]{16}\b"),
    ("an AWS access key", "ASIA", r"\bASIA[A-Z2-7]{16}\b"),
    *(
        ("a GitHub token", f"gh{owner}_", rf"\bgh{owner}_[A-Za-z0-9]{{36,255}}\b")
        for owner in "pousr"
    ),
    ("a GitHub token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b"),
    ("a GitLab token", "glpat-", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("a Slack token", "xox", r"\bxox[abeoprs]-[0-9]{8,}-[0-9A-Za-z-]{16,}"),
    ("a Slack hook", "hooks.slack.com", r"hooks\.slack\.com/services/T\w{8,}/B\w{8,}/\w{20,}"),
    ("an Anthropic key", "sk-ant-", r"\bsk-ant-[a-z0-9]+-[A-Za-z0-9_-]{60,}"),
    ("an OpenAI key", "T3BlbkFJ", r"\bsk-[A-Za-z0-9_-]{0,120}T3BlbkFJ[A-Za-z0-9_-]{16,}"),
    ("an OpenAI key", "sk-proj-", r"\bsk-proj-[A-Za-z0-9_-]{40,}"),
    ("a Google key", "AIza", r"\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("a Google token", "GOCSPX-", r"\bGOCSPX-[A-Za-z0-9_-]{28}(?![A-Za-z0-9_-])"),
    ("a Stripe key", "k_live_", r"\b[rs]k_live_[A-Za-z0-9]{24,}\b"),
    ("an npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("a PyPI token", "pypi-AgE", r"\bpypi-AgE[A-Za-z0-9_-]{60,}"),
    ("a Hugging Face token", "hf_", r"\bhf_[A-Za-z0-9]{34}\b"),
    ("a SendGrid key", "SG.", r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b"),
)

# The body is required: a manual that shows only the first line holds no key. A header is read in
# one way, up to the end of its line or the backslash of an escaped one; only the last one before
# the key may share its line with it.
KEY_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment):"
PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?:(?:\s|\\[nr]|[\"'+,>#*]|{KEY_HEADER}[^\n\\]{{0,200}}+){{1,200}}|(?={KEY_HEADER}))"
    rf"(?:{KEY_HEADER}[^\n]{{0,200}}?)?[A-Za-z0-9+/=]{{64}}"
)

# The value is matched first, then the name before it: long values are rarer than names.
ASSIGNMENT = re.compile(
    r"""[=:>]\s{0,4}(?P<quote>["']?)(?P<value>[A-Za-z0-9][A-Za-z0-9+/_.-]{31,}+={0,2})(?P=quote)"""
    r"""(?=[\s,;)}\]"']|$)"""
)
SECRET_NAME = re.compile(
    r"""(?ix) (?: api | access | auth | secret | client | private | signing | encryption )
        [_-]? (?: key | token | secret ) ["']? \s{0,4} [:=]? \Z"""
)
MAX_NAME_LENGTH = 30

PLACEHOLDER = re.compile(
    r"(?i)example|sample|dummy|fake|test|placeholder|your|changeme|redacted|x{4}|0{6}|\.{3}"
    r"|12345|abcdef|(.)\1{5}"
)
IDENTIFIER = re.compile(
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"  # a UUID
    r"|(?!eyJ)[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+"  # a dotted name
)
MAX_DISTINCT = 10
"""A random value of 20 characters or more has more distinct ones than this."""


def check_name(name: str) -> str | None:
    """Return why a file name suggests a secret, or None."""
    lower = name.lower()
    if any(fnmatchcase(lower, pattern) for pattern in EXAMPLE_NAMES):
        return None
    if any(fnmatchcase(lower, pattern) for pattern in SECRET_NAMES):
        return f"named like a file of secrets; {HOW_TO_INCLUDE}"
    return None


def check_text(text: str) -> str | None:
    """Return why a text is taken for a secret and how to include it all the same, or None."""
    secret = find_secret(text)
    return None if secret is None else f"{secret}; {HOW_TO_INCLUDE}"


def find_secret(text: str) -> str | None:
    """Return the line and the kind of the first secret in a text, or None."""
    first = min(_find_all(text), default=None)
    if first is None:
        return None
    offset, kind = first
    return f"line {text.count(chr(10), 0, offset) + 1} looks like {kind}"


def _find_all(text: str) -> list[tuple[int, str]]:
    """Return (offset, kind) of the first secret of each kind."""
    secrets = []
    if "PRIVATE KEY" in text and (match := PRIVATE_KEY.search(text)):
        secrets.append((match.start(), "a private key"))
    for kind, substring, pattern in TOKENS:
        if substring in text:
            secrets += [
                (match.start(), kind)
                for match in re.finditer(pattern, text)
                if _looks_random(match.group().removeprefix(substring))
            ][:1]
    for match in ASSIGNMENT.finditer(text):
        name = text[max(0, match.start() - MAX_NAME_LENGTH) : match.start()]
        value = match["value"]
        if SECRET_NAME.search(name) and _looks_random(value) and _has_mixed_characters(value):
            secrets.append((match.start(), "a secret given to a name"))
            break
    return secrets


def _looks_random(value: str) -> bool:
    return len(set(value)) > MAX_DISTINCT and not PLACEHOLDER.search(value)


def _has_mixed_characters(value: str) -> bool:
    """Return whether a value is not a word, a path, a dotted name or another identifier."""
    if IDENTIFIER.fullmatch(value):
        return False
    digits = sum(character.isdigit() for character in value)
    return digits >= len(value) // 10 and bool(re.search("[A-Za-z]", value))
