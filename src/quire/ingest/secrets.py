"""Does this look like a secret?

By name: files that hold keys or passwords by their trade. By content: private keys, tokens
whose form says who issued them, and long random values given to a name such as `api_key`.
What merely speaks of a secret (a pattern, a placeholder, an example in a manual) is let
through. A reason names the line and the kind, never the secret.
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
    # kind, a string without which there is none, the form
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
    ("an OpenAI key", "T3BlbkFJ", r"\bsk-[A-Za-z0-9_-]*T3BlbkFJ[A-Za-z0-9_-]{16,}"),
    ("an OpenAI key", "sk-proj-", r"\bsk-proj-[A-Za-z0-9_-]{40,}"),
    ("a Google key", "AIza", r"\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("a Google token", "GOCSPX-", r"\bGOCSPX-[A-Za-z0-9_-]{28}(?![A-Za-z0-9_-])"),
    ("a Stripe key", "k_live_", r"\b[rs]k_live_[A-Za-z0-9]{24,}\b"),
    ("an npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("a PyPI token", "pypi-AgE", r"\bpypi-AgE[A-Za-z0-9_-]{60,}"),
    ("a Hugging Face token", "hf_", r"\bhf_[A-Za-z0-9]{34}\b"),
    ("a SendGrid key", "SG.", r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b"),
)

# The body must be there too: a manual that shows the first line only is no key.
PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:\s|\\[nr]|[\"'+,>#*]|(?:Proc-Type|DEK-Info|Version|Comment):[^\n]{0,200}){1,200}"
    r"[A-Za-z0-9+/=]{64}"
)

# The value is looked for first and its name behind it: values are rarer than names.
ASSIGNED = re.compile(
    r"""[=:>]\s{0,4}(?P<quote>["']?)(?P<value>[A-Za-z0-9][A-Za-z0-9+/_.-]{31,}+={0,2})(?P=quote)"""
    r"""(?=[\s,;)}\]"']|$)"""
)
SECRET_NAME = re.compile(
    r"""(?ix) (?: api | access | auth | secret | client | private | signing | encryption )
        [_-]? (?: key | token | secret ) ["']? \s{0,4} [:=]? \Z"""
)
NAME_LENGTH = 30

PLACEHOLDER = re.compile(
    r"(?i)example|sample|dummy|fake|test|placeholder|your|changeme|redacted|x{4}|0{6}|\.{3}"
    r"|12345|abcdef|(.)\1{5}"
)
HARMLESS = re.compile(
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"  # a UUID
    r"|(?!eyJ)[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+"  # a dotted name
)
FEW_CHARACTERS = 10
"""A random value of 20 characters or more has more different ones than this."""


def in_name(name: str) -> str | None:
    """Say why a file is taken for a secret by its name, or nothing."""
    lower = name.lower()
    if any(fnmatchcase(lower, pattern) for pattern in EXAMPLE_NAMES):
        return None
    if any(fnmatchcase(lower, pattern) for pattern in SECRET_NAMES):
        return f"named like a file of secrets; {HOW_TO_INCLUDE}"
    return None


def in_text(text: str) -> str | None:
    """Say why a file is taken for a secret by its text, or nothing."""
    found = seen_in(text)
    return None if found is None else f"{found}; {HOW_TO_INCLUDE}"


def seen_in(text: str) -> str | None:
    """Say which kind of secret stands in which line of a text, or nothing."""
    found = min(_found(text), default=None)
    if found is None:
        return None
    at, kind = found
    return f"line {text.count(chr(10), 0, at) + 1} looks like {kind}"


def _found(text: str) -> list[tuple[int, str]]:
    found = []
    if "PRIVATE KEY" in text and (match := PRIVATE_KEY.search(text)):
        found.append((match.start(), "a private key"))
    for kind, hint, form in TOKENS:
        if hint in text:
            found += [
                (match.start(), kind)
                for match in re.finditer(form, text)
                if _random(match.group().removeprefix(hint))
            ][:1]
    for match in ASSIGNED.finditer(text):
        name = text[max(0, match.start() - NAME_LENGTH) : match.start()]
        value = match["value"]
        if SECRET_NAME.search(name) and _random(value) and _mixed(value):
            found.append((match.start(), "a secret given to a name"))
            break
    return found


def _random(value: str) -> bool:
    return len(set(value)) > FEW_CHARACTERS and not PLACEHOLDER.search(value)


def _mixed(value: str) -> bool:
    """Tell a random value from words, paths, dotted names and other identifiers."""
    if HARMLESS.fullmatch(value):
        return False
    digits = sum(character.isdigit() for character in value)
    return digits >= len(value) // 10 and bool(re.search("[A-Za-z]", value))
