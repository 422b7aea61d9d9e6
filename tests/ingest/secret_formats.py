"""Formats of secrets, filled with random values, and texts that look like secrets and are none.

Each value is put together when the tests run, so that no tool takes this file for a leak.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import string
from collections.abc import Callable, Iterator, Mapping
from random import Random

LETTERS = string.ascii_letters
WORD = LETTERS + string.digits
URL = WORD + "_-"
HEX = "0123456789abcdef"
SMALL = string.ascii_lowercase + string.digits
LARGE = string.ascii_uppercase + string.digits
BASE32 = string.ascii_uppercase + "234567"
BASE64 = WORD + "+/"
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"
ALPHABETS = {
    "w": WORD, "u": URL, "h": HEX, "s": SMALL, "L": LARGE, "b": BASE32, "e": BASE64,
    "k": BECH32, "d": string.digits, "a": LETTERS,
}  # fmt: skip

UUID = "{h8}-{h4}-{h4}-{h4}-{h12}"
KEY = "PRIVATE" + " KEY"
LINES = "{e64}\n{e64}\n{e64}\n{e32}=="

TEMPLATES: Mapping[str, str] = {
    # what it is: {h32} stands for 32 random characters of an alphabet
    "AWS access key": "AKIA{b16}",
    "AWS temporary key": "ASIA{b16}",
    "AWS bearer key": "ABIA{b16}",
    "AWS context key": "ACCA{b16}",
    "AWS secret key": "aws_secret_access_key = {e40}",
    "AWS marketplace key": "amzn.mws." + UUID,
    "AWS Bedrock key": "ABSK{e128}==",
    "Google API key": "AIza{u35}",
    "Google client secret": "GOCSPX-{u28}",
    "Google access token": "ya29.{u120}",
    "Google refresh token": "1//0{u60}",
    "Google service account": '{{"type": "service_account", "private_key": "-----BEGIN ' + KEY + '-----\\n{e64}\\n{e64}\\n"}}',
    "Firebase server key": "AAAA{u7}:APA91b{u134}",
    "Azure client secret": "{w3}8Q~{w34}",
    "Azure storage key": "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={e86}==;",
    "Azure bus key": "SharedAccessKeyName=Root;SharedAccessKey={e43}=",
    "Azure SAS": "https://shop.blob.core.windows.net/c?sv=2022-11-02&sig={w40}%2B{w3}%3D",
    "Azure DevOps token": "{w76}AZDO{w4}",
    "Azure DevOps old token": "AZURE_DEVOPS_PAT={s52}",
    "Alibaba key": "LTAI{w20}",
    "DigitalOcean token": "dop_v1_{h64}",
    "DigitalOcean OAuth token": "doo_v1_{h64}",
    "DigitalOcean refresh token": "dor_v1_{h64}",
    "Heroku key": "HRKU-AA{u58}",
    "Heroku old key": "HEROKU_API_KEY=" + UUID,
    "Cloudflare token": 'cloudflare_api_token = "{u40}"',
    "Cloudflare global key": "CLOUDFLARE_API_KEY: {h37}",
    "Cloudflare origin key": "v1.0-{h24}-{h146}",
    "Fly.io token": "fo1_{u43}",
    "Fly.io macaroon": "FlyV1 fm2_{e160}=",
    "Netlify token": "nfp_{w36}",
    "Tailscale key": "tskey-auth-{w12}-{w32}",
    "GitHub classic token": "ghp_{w36}",
    "GitHub OAuth token": "gho_{w36}",
    "GitHub user token": "ghu_{w36}",
    "GitHub app token": "ghs_{w36}",
    "GitHub refresh token": "ghr_{w76}",
    "GitHub fine-grained token": "github_pat_{w22}_{w59}",
    "GitLab token": "glpat-{u20}",
    "GitLab routable token": "glpat-{u27}.{s2}{s7}",
    "GitLab trigger token": "glptt-{h40}",
    "GitLab deploy token": "gldt-{u20}",
    "GitLab runner token": "glrt-{u20}",
    "GitLab job token": "glcbt-{w3}_{u20}",
    "GitLab feed token": "glft-{u20}",
    "GitLab SCIM token": "glsoat-{u20}",
    "GitLab mail token": "glimt-{u25}",
    "GitLab agent token": "glagent-{u50}",
    "GitLab OAuth secret": "gloas-{u64}",
    "GitLab flags token": "glffct-{u20}",
    "GitLab registration token": "GR1348941{u20}",
    "Bitbucket password": "ATBB{w32}",
    "Atlassian token": "ATATT3xFfGF0{u170}={L8}",
    "Jira old token": 'JIRA_API_TOKEN="{w24}"',
    "Sourcegraph token": "sgp_{h16}_{h40}",
    "npm token": "npm_{w36}",
    "npm old token": "//registry.npmjs.org/:_authToken=" + UUID,
    "PyPI token": "pypi-AgEIcHlwaS5vcmc{u150}",
    "RubyGems key": "rubygems_{h48}",
    "NuGet key": "oy2{s43}",
    "crates.io token": "cio{w32}",
    "Clojars token": "CLOJARS_{s60}",
    "Docker Hub token": "dckr_pat_{u27}",
    "Docker organization token": "dckr_oat_{u32}",
    "Artifactory key": "AKCp{w69}",
    "Artifactory reference token": "cmVmd{w59}",
    "Buildkite token": "bkua_{h40}",
    "CircleCI token": "CCIPAT_{w22}_{h40}",
    "Sonar user token": "squ_{h40}",
    "Sonar project token": "sqp_{h40}",
    "Sonar analysis token": "sqa_{h40}",
    "Octopus key": "API-{L26}",
    "Harness key": "pat.{u22}.{h24}.{w20}",
    "Prefect key": "pnu_{w36}",
    "Infracost key": "ico-{w32}",
    "Postman key": "PMAK-{h24}-{h34}",
    "ReadMe key": "rdme_{s70}",
    "Snyk token": "SNYK_TOKEN=" + UUID,
    "Codecov token": "CODECOV_TOKEN: {h32}",
    "Travis token": 'travis_token = "{w22}"',
    "Terraform token": "{w14}.atlasv1.{u67}",
    "Vault service token": "hvs.{u95}",
    "Vault batch token": "hvb.{u150}",
    "Vault recovery token": "hvr.{u95}",
    "Pulumi token": "pul-{h40}",
    "Doppler token": "dp.pt.{w43}",
    "Doppler service token": "dp.st.{w43}",
    "Doppler command line token": "dp.ct.{w43}",
    "Doppler account token": "dp.sa.{w40}",
    "Databricks token": "dapi{h32}",
    "PlanetScale token": "pscale_tkn_{u43}",
    "PlanetScale password": "pscale_pw_{u43}",
    "PlanetScale OAuth token": "pscale_oauth_{u43}",
    "Supabase access token": "sbp_{h40}",
    "Supabase secret key": "sb_secret_{u22}_{w8}",
    "age key": "AGE-SECRET-KEY-1{k58}",
    "1Password service token": "ops_eyJ{e300}",
    "1Password secret key": "A3-{L6}-{L6}-{L5}-{L5}-{L5}-{L5}",
    "OpenShift token": "sha256~{u43}",
    "OpenAI key": "sk-{w20}T3Blbk" + "FJ{w20}",
    "OpenAI project key": "sk-proj-{u74}T3Blbk" + "FJ{u74}",
    "OpenAI service key": "sk-svcacct-{u58}",
    "OpenAI admin key": "sk-admin-{u58}",
    "Anthropic key": "sk-ant-api03-{u93}AA",
    "Anthropic admin key": "sk-ant-admin01-{u93}AA",
    "OpenRouter key": "sk-or-v1-{h64}",
    "Hugging Face token": "hf_{a34}",
    "Hugging Face organization token": "api_org_{a34}",
    "Groq key": "gsk_{w52}",
    "Perplexity key": "pplx-{w48}",
    "Replicate token": "r8_{w37}",
    "xAI key": "xai-{w80}",
    "LangSmith key": "lsv2_pt_{h32}_{h10}",
    "Cohere key": 'COHERE_API_KEY = "{w40}"',
    "Slack bot token": "xoxb-{d12}-{d12}-{w24}",
    "Slack user token": "xoxp-{d12}-{d12}-{d12}-{h32}",
    "Slack app token": "xapp-1-A{L10}-{d13}-{h64}",
    "Slack configuration token": "xoxe.xoxp-1-{w163}",
    "Slack refresh token": "xoxe-1-{w146}",
    "Slack hook": "https://hooks.slack.com/services/T{L10}/B{L10}/{w24}",
    "Discord bot token": "M{w23}.{w6}.{u38}",
    "Discord hook": "https://discord.com/api/webhooks/{d18}/{u68}",
    "Discord client secret": "discord_client_secret = {w32}",
    "Telegram token": "{d10}:AA{u33}",
    "Teams hook": "https://shop.webhook.office.com/webhookb2/" + UUID + "@" + UUID + "/IncomingWebhook/{h32}/" + UUID,
    "SendGrid key": "SG.{u22}.{u43}",
    "Brevo key": "xkeysib-{h64}-{w16}",
    "Mailgun key": "key-{h32}",
    "Mailgun new key": 'mailgun_api_key = "{h32}-{h8}-{h8}"',
    "Mailchimp key": "{h32}-us14",
    "Twilio key": "SK{h32}",
    "Twilio token": "TWILIO_AUTH_TOKEN={h32}",
    "Stripe key": "sk_live_{w99}",
    "Stripe restricted key": "rk_live_{w24}",
    "Stripe hook secret": "whsec_{w32}",
    "Shopify token": "shpat_{h32}",
    "Shopify custom token": "shpca_{h32}",
    "Shopify private token": "shppa_{h32}",
    "Shopify secret": "shpss_{h32}",
    "Square token": "sq0atp-{u22}",
    "Square secret": "sq0csp-{u43}",
    "Square access token": "EAAA{u60}",
    "PayPal token": "access_token$production${s16}${h32}",
    "Razorpay key": "rzp_live_{w14}",
    "Flutterwave key": "FLWSECK-{h32}-X",
    "EasyPost key": "EZAK{w54}",
    "Shippo token": "shippo_live_{h40}",
    "Plaid token": "access-production-" + UUID,
    "Duffel token": "duffel_live_{u43}",
    "Datadog key": "DD_API_KEY={h32}",
    "Datadog application key": 'datadog_app_key: "{h40}"',
    "New Relic user key": "NRAK-{L27}",
    "New Relic insert key": "NRII-{u32}",
    "New Relic license key": "{h32}FFFFNRAL",
    "Sentry user token": "sntryu_{h64}",
    "Sentry organization token": "sntrys_eyJ{e120}_{e43}",
    "Sentry old token": "SENTRY_AUTH_TOKEN={h64}",
    "Grafana token": "glsa_{w32}_{h8}",
    "Grafana cloud token": "glc_{e80}=",
    "Grafana old key": "eyJrIjoi{w90}",
    "Dynatrace token": "dt0c01.{L24}.{L64}",
    "Fastly token": "FASTLY_API_TOKEN={u32}",
    "Okta token": "OKTA_API_TOKEN=00{u40}",
    "Algolia key": "ALGOLIA_ADMIN_KEY={h32}",
    "PagerDuty key": "pagerduty_api_key: {u20}",
    "Linear key": "lin_api_{w40}",
    "Notion token": "ntn_{d11}{w35}",
    "Notion old token": "secret_{w43}",
    "Figma token": "figd_{u43}",
    "Airtable token": "pat{w14}.{h64}",
    "Airtable key": "AIRTABLE_API_KEY=key{w14}",
    "Asana token": "1/{d16}:{h32}",
    "HubSpot token": "pat-na1-" + UUID,
    "Contentful token": "CFPAT-{u43}",
    "Typeform token": "tfp_{w44}_{w14}",
    "Frame.io token": "fio-u-{u64}",
    "Mapbox secret token": "sk.eyJ{w70}.{u22}",
    "MaxMind key": "{w6}_{w29}_mmk",
    "Adobe secret": "p8e-{w32}",
    "Dropbox token": "sl.{u140}",
    "Dropbox secret": "dropbox_app_secret = {s15}",
    "Facebook token": "EAACEdEose0cBA{w120}",
    "Facebook app token": "{d16}|{u27}",
    "Facebook secret": "FACEBOOK_APP_SECRET={h32}",
    "Twitter bearer token": "A" * 22 + "B{w85}",
    "Twitter secret": "TWITTER_ACCESS_SECRET={w45}",
    "LinkedIn secret": "LINKEDIN_CLIENT_SECRET={w16}",
    "JWT": "eyJhbGciOiJIUzI1NiJ9.eyJ{u60}.{u43}",
    "PEM private key": "-----BEGIN " + KEY + "-----\n" + LINES,
    "RSA private key": "-----BEGIN RSA " + KEY + "-----\n" + LINES,
    "EC private key": "-----BEGIN EC " + KEY + "-----\n" + LINES,
    "encrypted private key": "-----BEGIN ENCRYPTED " + KEY + "-----\n" + LINES,
    "OpenSSH private key": "-----BEGIN OPENSSH " + KEY + "-----\n" + LINES,
    "PGP private key": "-----BEGIN PGP " + KEY + " BLOCK-----\nVersion: GnuPG v2\n\n" + LINES,
    "PuTTY private key": "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: me\nPublic-Lines: 1\n{e64}\nPrivate-Lines: 1\n{e48}\n",
    "PostgreSQL address": "postgres://app:{w16}@db.shop.internal:5432/shop",
    "MySQL address": "mysql://app:{w16}@db.shop.internal/shop",
    "MongoDB address": "mongodb+srv://app:{w16}@cluster0.shop.mongodb.net/shop",
    "Redis address": "redis://:{w20}@cache.shop.internal:6379/0",
    "AMQP address": "amqps://app:{w16}@queue.shop.internal/v",
    "basic auth in an address": "https://deploy:{w20}@git.shop.io/shop.git",
    "login file": "machine git.shop.io\n  login deploy\n  password {w20}\n",
    "bearer header": "curl -H 'Authorization: Bearer {w40}' https://api.shop.io",
    "SQL Server setting": "Server=db;User Id=sa;Password={w16};Encrypt=true",
    "named password": 'DB_PASSWORD = "{w24}"',
    "named secret": 'client_secret: "{u40}"',
}  # fmt: skip


def fill(template: str, random: Random) -> str:
    """Replace each hole of a template by random characters."""

    def chars(match: re.Match[str]) -> str:
        return "".join(random.choices(ALPHABETS[match[1]], k=int(match[2])))

    filled = re.sub(r"\{([a-zA-Z])(\d+)\}", chars, template)
    return filled.replace("{{", "{").replace("}}", "}")


def basic_header(random: Random) -> str:
    login = f"deploy:{fill('{w20}', random)}"
    return f"Authorization: Basic {base64.b64encode(login.encode()).decode()}"


def docker_login(random: Random) -> str:
    login = base64.b64encode(f"deploy:{fill('{w20}', random)}".encode()).decode()
    return json.dumps({"auths": {"registry.shop.io": {"auth": login}}})


COMPUTED: Mapping[str, Callable[[Random], str]] = {
    "basic header": basic_header,
    "Docker login": docker_login,
}


def secrets(random: Random) -> Iterator[tuple[str, str]]:
    """Yield each format with a random value, in a line as it may stand in a file."""
    for name, template in TEMPLATES.items():
        value = fill(template, random)
        given = " = " in value or ": " in value or "\n" in value or "=" in value.split("://")[0]
        yield (
            name,
            value if given else random.choice(("{}", 'x = "{}"', "- {}", "(`{}`)")).format(value),
        )
    for name, make in COMPUTED.items():
        yield name, make(random)


def harmless(random: Random) -> Iterator[tuple[str, str]]:
    """Yield texts that look like secrets, with what they are."""
    yield from _placeholders(random)
    yield from _digests(random)
    yield from _locks(random)
    yield from _code(random)


def _placeholders(random: Random) -> Iterator[tuple[str, str]]:
    prefixes = [
        match[0]
        for template in TEMPLATES.values()
        if (match := re.match(r"[A-Za-z0-9_.-]{3,}(?=\{)", template))
    ]
    for prefix in prefixes:
        yield "placeholder", f"token = {prefix}{'x' * 40}"
        yield "pattern", rf"re.compile(r'\b{prefix}[A-Za-z0-9_-]{{20,}}\b')"
        yield "cut short", f"{prefix}{fill('{w4}', random)}..."
        yield "words", f"set {prefix}your-token-goes-here in the settings"
        yield "example", f"{prefix}EXAMPLE{fill('{L12}', random)}EXAMPLE{fill('{L12}', random)}"


def _digests(random: Random) -> Iterator[tuple[str, str]]:
    for number in range(12):
        data = f"{number} {random.random()}".encode()
        for name in ("md5", "sha1", "sha256", "sha512", "blake2b"):
            yield "digest", f"{name}: {hashlib.new(name, data).hexdigest()}"
        commit = hashlib.sha1(data).hexdigest()
        yield "commit", f"commit {commit}"
        yield "commit", f'revision = "{commit}"'
        yield "commit", f"See https://github.com/shop/shop/commit/{commit}"
        yield "commit", f"{commit[:10]}..{commit[-10:]} main -> main (forced update)"
        unique = fill(UUID, random)
        yield "UUID", f"request_id: {unique}"
        yield "UUID", f'"id": "{unique}",'
        yield "UUID", f"DELETE FROM orders WHERE id = '{unique}'"


def _locks(random: Random) -> Iterator[tuple[str, str]]:
    for number in range(8):
        data = hashlib.sha512(str(number).encode()).digest()
        long, short = base64.b64encode(data).decode(), base64.b64encode(data[:32]).decode()
        yield "integrity", f'"integrity": "sha512-{long}"'
        yield (
            "integrity",
            f'<script src="a.js" integrity="sha384-{base64.b64encode(data[:48]).decode()}"></script>',
        )
        yield "go.sum", f"golang.org/x/text v0.3.{number} h1:{short}"
        yield (
            "yarn.lock",
            f'  resolved "https://registry.yarnpkg.com/a/-/a-1.0.{number}.tgz#{data[:20].hex()}"',
        )
        yield "Cargo.lock", f'checksum = "{data[:32].hex()}"'
        yield "requirements", f"    --hash=sha256:{data[:32].hex()} \\"
        yield "image", f"![x](data:image/png;base64,{fill('{e400}', random)}==)"
        yield "font", f"src: url(data:font/woff2;base64,{fill('{e300}', random)}=)"
        yield "public key", f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{fill('{e43}', random)} me@shop"
        yield (
            "certificate",
            f"-----BEGIN CERTIFICATE-----\n{fill(LINES, random)}\n-----END CERTIFICATE-----",
        )
        yield (
            "public key",
            f"-----BEGIN PUBLIC KEY-----\n{fill(LINES, random)}\n-----END PUBLIC KEY-----",
        )
        yield "etag", f'ETag: W/"{data[:16].hex()}"'
        yield "digest of an image", f"FROM python@sha256:{data[:32].hex()}"
        yield "version", f"nightly-2024.11.{number}+build.{data[:6].hex()}"


def _code(random: Random) -> Iterator[tuple[str, str]]:
    lines = (
        "password = os.environ['DATABASE_PASSWORD_OF_THE_SHOP_1']",
        'client_secret = config["client_secret_of_the_shop_2"]',
        "postgres://user:password@localhost:5432/db",
        "postgres://postgres:postgres@db:5432/app",
        "postgresql://${DB_USER}:${DB_PASSWORD}@${DB_HOST}/app",
        "https://username:password@example.com/path",
        "https://user:pass1234@example.com/path",
        "amqp://guest:guest@localhost:5672//",
        "redis://localhost:6379/0",
        "git@github.com:shop/shop.git",
        "mailto:someone12345@shop.io?subject=hello",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <your token goes here>",
        "Authorization: Basic dXNlcm5hbWU6cGFzc3dvcmQ=",
        'headers = {"Authorization": f"Bearer {self.token_of_user_12}"}',
        "machine example.com login me password secret",
        "password: ********",
        "Password=;Integrated Security=true;",
        "api_key = get_api_key_from_the_key_ring_of_the_user(1)",
        "secret_name = projects/123456/secrets/shop-database/versions/1",
        "arn:aws:iam::123456789012:role/service-role/shop-role-abc1234",
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:shop-AbCdEf",
        "const o=(t,e)=>{let n=t.length;for(;n--;)e[n]=t[n]^0x5f3759df;return e},a=1e9",
        "!function(e,t){'object'==typeof exports?module.exports=t():e.Shop=t()}(this,0);",
        "//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXX0=",
        "token_type = bearer; expires_in = 3600; scope = read:user,repo12",
        "access_token_url = https://login.microsoftonline.com/common/oauth2/v2.0/token",
        "tokens = tokenizer.encode('the quick brown fox jumps over 13 lazy dogs')",
        "max_token_count_per_request_of_user = 128000",
        "test_the_password_of_user_number_12_is_refused = True",
        "A" * 80,
        "0123456789abcdef" * 4,
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "1234567890:AAbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
        "SK" + "0" * 32,
        "key-" + "a" * 32,
    )
    for line in lines:
        yield "code and prose", line
    words = ("service", "account", "manager", "factory", "controller", "handler", "provider")
    for number in range(20):
        name = "_".join(random.choices(words, k=5))
        yield "identifier", f"secret_key = {name}_{number}.get_value_of_setting"
        yield "identifier", f"client_token: {name.title().replace('_', '')}"
