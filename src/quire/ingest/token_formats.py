"""The formats of tokens that services issue: what a token begins with, and what follows.

Only formats that say by themselves who issued them stand in `TOKENS`. A service whose keys look
like any other random value stands in `SERVICES`: its keys are known by the name they are given to.
"""

from __future__ import annotations

WORD = "[A-Za-z0-9]"
URL = "[A-Za-z0-9_-]"
HEX = "[0-9a-f]"
UUID = f"{HEX}{{8}}-(?:{HEX}{{4}}-){{3}}{HEX}{{12}}"
START = r"(?<![A-Za-z0-9_-])"
"""Nothing of a token stands before its beginning; so each run of characters is tried once."""
END = "(?![A-Za-z0-9_-])"


def _prefixed(kind: str, prefix: str, rest: str) -> tuple[str, str, str]:
    """Return a row for a token that begins with a prefix in which no character is special."""
    return kind, prefix, START + prefix.replace(".", r"\.") + rest + END


GITLAB = (
    "glptt-",
    "gldt-",
    "glcbt-",
    "glft-",
    "glsoat-",
    "glimt-",
    "glagent-",
    "gloas-",
    "glffct-",
    "GR1348941",
)

TOKENS: tuple[tuple[str, str, str], ...] = (
    # Kind, a substring that each token has, pattern. If the pattern has a group, that is the part
    # that must look random.
    # --- clouds
    *(
        _prefixed("an AWS access key", prefix, "[A-Z2-7]{16}")
        for prefix in ("AKIA", "ASIA", "ABIA", "ACCA")
    ),
    _prefixed("an AWS key", "amzn.mws.", UUID),
    _prefixed("an AWS key", "ABSK", "[A-Za-z0-9+/]{109,269}={0,2}"),
    _prefixed("a Google key", "AIza", f"{URL}{{35}}"),
    _prefixed("a Google token", "GOCSPX-", f"{URL}{{28}}"),
    _prefixed("a Google token", "ya29.", "[A-Za-z0-9_.-]{30,2000}"),
    _prefixed("a Google token", "1//0", f"{URL}{{40,200}}"),
    ("a Firebase key", ":APA91b", rf"{START}AAAA{URL}{{7}}:APA91b{URL}{{100,200}}{END}"),
    (
        "an Azure secret",
        "Q~",
        r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])",
    ),
    ("an Azure key", "AccountKey=", r"AccountKey=[A-Za-z0-9+/]{86}=="),
    ("an Azure key", "SharedAccessKey=", r"SharedAccessKey=[A-Za-z0-9+/]{43}="),
    ("an Azure signature", "sig=", r"[?&;]sig=[A-Za-z0-9%+/]{43,90}(?:%3D|=)"),
    ("an Azure DevOps token", "AZDO", rf"\b{WORD}{{76}}AZDO{WORD}{{4}}\b"),
    _prefixed("an Alibaba key", "LTAI", f"{WORD}{{20}}"),
    *(
        _prefixed("a DigitalOcean token", prefix, f"{HEX}{{64}}")
        for prefix in ("dop_v1_", "doo_v1_", "dor_v1_")
    ),
    _prefixed("a Heroku key", "HRKU-AA", f"{URL}{{58}}"),
    _prefixed("a Cloudflare key", "v1.0-", f"{HEX}{{24}}-{HEX}{{146}}"),
    _prefixed("a Fly.io token", "fo1_", f"{URL}{{43}}"),
    _prefixed("a Fly.io token", "fm2_", "[A-Za-z0-9+/]{100,1000}={0,3}"),
    _prefixed("a Netlify token", "nfp_", f"{WORD}{{36}}"),
    _prefixed("a Tailscale key", "tskey-", f"[a-z]{{3,8}}-{WORD}{{10,30}}-{WORD}{{20,40}}"),
    # --- code hosts, registries, builds
    *(_prefixed("a GitHub token", f"gh{owner}_", f"{WORD}{{36,255}}") for owner in "pousr"),
    _prefixed("a GitHub token", "github_pat_", f"{WORD}{{22}}_{WORD}{{59}}"),
    _prefixed("a GitLab token", "glpat-", r"[A-Za-z0-9_.-]{20,320}"),
    _prefixed("a GitLab token", "glrt-", r"[A-Za-z0-9_.-]{20,320}"),
    *(_prefixed("a GitLab token", prefix, f"{URL}{{20,64}}") for prefix in GITLAB),
    _prefixed("a Bitbucket password", "ATBB", f"{WORD}{{32}}"),
    _prefixed("an Atlassian token", "ATATT3xFfGF0", "[A-Za-z0-9_=-]{150,220}"),
    _prefixed("a Sourcegraph token", "sgp_", f"(?:(?:{HEX}{{16}}|local)_)?{HEX}{{40}}"),
    _prefixed("an npm token", "npm_", f"{WORD}{{36}}"),
    ("an npm token", "_authToken", rf"_authToken\s{{0,4}}=\s{{0,4}}({UUID})\b"),
    _prefixed("a PyPI token", "pypi-AgE", f"{URL}{{60,1000}}"),
    _prefixed("a RubyGems key", "rubygems_", f"{HEX}{{48}}"),
    _prefixed("a NuGet key", "oy2", "[a-z0-9]{43}"),
    _prefixed("a crates.io token", "cio", f"{WORD}{{32}}"),
    ("a Clojars token", "CLOJARS_", rf"{START}CLOJARS_[a-z0-9]{{60}}{END}"),
    _prefixed("a Docker token", "dckr_pat_", f"{URL}{{27}}"),
    _prefixed("a Docker token", "dckr_oat_", f"{URL}{{32}}"),
    _prefixed("an Artifactory key", "AKCp", f"{WORD}{{69}}"),
    _prefixed("an Artifactory token", "cmVmd", f"{WORD}{{59}}"),
    _prefixed("a Buildkite token", "bkua_", f"{HEX}{{40}}"),
    _prefixed("a CircleCI token", "CCIPAT_", f"{WORD}{{22}}_{HEX}{{40}}"),
    *(_prefixed("a Sonar token", prefix, f"{HEX}{{40}}") for prefix in ("squ_", "sqp_", "sqa_")),
    _prefixed("an Octopus key", "API-", "[A-Z0-9]{26}"),
    _prefixed("a Harness key", "pat.", rf"{URL}{{22}}\.{WORD}{{24}}\.{WORD}{{20}}"),
    _prefixed("a Prefect key", "pnu_", f"{WORD}{{36}}"),
    _prefixed("an Infracost key", "ico-", f"{WORD}{{32}}"),
    _prefixed("a Postman key", "PMAK-", f"{HEX}{{24}}-{HEX}{{34}}"),
    _prefixed("a ReadMe key", "rdme_", "[a-z0-9]{70}"),
    # --- infrastructure and secrets
    ("a Terraform token", ".atlasv1.", rf"{START}{WORD}{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{60,70}}"),
    *(
        _prefixed("a Vault token", prefix, f"{URL}{{90,300}}")
        for prefix in ("hvs.", "hvb.", "hvr.")
    ),
    _prefixed("a Pulumi token", "pul-", f"{HEX}{{40}}"),
    *(
        _prefixed("a Doppler token", prefix, f"{WORD}{{40,44}}")
        for prefix in ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.")
    ),
    _prefixed("a Databricks token", "dapi", f"{HEX}{{32}}(?:-[0-9])?"),
    *(
        _prefixed("a PlanetScale secret", prefix, "[A-Za-z0-9_=.-]{32,64}")
        for prefix in ("pscale_tkn_", "pscale_pw_", "pscale_oauth_")
    ),
    _prefixed("a Supabase token", "sbp_", f"{HEX}{{40}}"),
    _prefixed("a Supabase key", "sb_secret_", f"{URL}{{20,60}}"),
    _prefixed("an age key", "AGE-SECRET-KEY-1", "[02-9AC-HJ-NP-Z]{58}"),
    _prefixed("a 1Password token", "ops_eyJ", "[A-Za-z0-9+/]{250,2000}={0,3}"),
    (
        "a 1Password key",
        "A3-",
        rf"{START}A3-[A-Z0-9]{{6}}-(?:[A-Z0-9]{{11}}|[A-Z0-9]{{6}}-[A-Z0-9]{{5}})(?:-[A-Z0-9]{{5}}){{3}}{END}",
    ),
    _prefixed("an OpenShift token", "sha256~", f"{URL}{{43}}"),
    # --- models
    _prefixed("an Anthropic key", "sk-ant-", f"[a-z0-9]{{2,20}}-{URL}{{60,200}}"),
    ("an OpenAI key", "T3BlbkFJ", rf"{START}sk-{URL}{{0,160}}T3BlbkFJ{URL}{{16,160}}{END}"),
    *(
        _prefixed("an OpenAI key", prefix, f"{URL}{{40,200}}")
        for prefix in ("sk-proj-", "sk-svcacct-", "sk-admin-")
    ),
    _prefixed("an OpenRouter key", "sk-or-v1-", f"{HEX}{{64}}"),
    _prefixed("a Hugging Face token", "hf_", f"{WORD}{{34}}"),
    _prefixed("a Hugging Face token", "api_org_", f"{WORD}{{34}}"),
    _prefixed("a Groq key", "gsk_", f"{WORD}{{52}}"),
    _prefixed("a Perplexity key", "pplx-", f"{WORD}{{48}}"),
    _prefixed("a Replicate token", "r8_", f"{WORD}{{37}}"),
    _prefixed("an xAI key", "xai-", f"{WORD}{{80}}"),
    _prefixed("a LangSmith key", "lsv2_", f"(?:pt|sk)_{HEX}{{32}}_{HEX}{{10}}"),
    # --- messages
    ("a Slack token", "xox", rf"{START}xox[abeoprs]-[0-9]{{8,14}}-[0-9A-Za-z-]{{16,120}}{END}"),
    ("a Slack token", "xoxe", rf"{START}xoxe(?:\.xox[bp])?-[0-9]-[A-Za-z0-9]{{140,170}}{END}"),
    _prefixed("a Slack token", "xapp-", "[0-9]-[A-Z0-9]{8,14}-[0-9]{8,14}-[a-z0-9]{30,80}"),
    (
        "a Slack hook",
        "hooks.slack.com",
        r"hooks\.slack\.com/services/T\w{8,12}/B\w{8,12}/\w{20,30}",
    ),
    ("a Discord hook", "/api/webhooks/", rf"/api/webhooks/[0-9]{{17,20}}/{URL}{{60,80}}"),
    (
        "a Discord token",
        ".",
        rf"(?<![A-Za-z0-9_.-])[MNO]{WORD}{{23,25}}\.{URL}{{6}}\.{URL}{{27,38}}(?![A-Za-z0-9_.-])",
    ),
    ("a Telegram token", ":AA", rf"{START}[0-9]{{8,10}}:AA{URL}{{32,33}}{END}"),
    (
        "a Teams hook",
        "/IncomingWebhook/",
        rf"/webhookb2/{UUID}@{UUID}/IncomingWebhook/{HEX}{{32}}/{UUID}",
    ),
    _prefixed("a SendGrid key", "SG.", rf"{URL}{{22}}\.{URL}{{43}}"),
    _prefixed("a Brevo key", "xkeysib-", f"{HEX}{{64}}-{WORD}{{16}}"),
    _prefixed("a Mailgun key", "key-", f"{HEX}{{32}}"),
    ("a Mailchimp key", "-us", rf"{START}{HEX}{{32}}-us[0-9]{{1,2}}{END}"),
    _prefixed("a Twilio key", "SK", f"{HEX}{{32}}"),
    # --- money and shops
    ("a Stripe key", "k_live_", rf"{START}[rs]k_live_([A-Za-z0-9]{{24,120}}){END}"),
    _prefixed("a Stripe secret", "whsec_", f"{WORD}{{32,64}}"),
    *(
        _prefixed("a Shopify token", prefix, "[0-9a-fA-F]{32}")
        for prefix in ("shpat_", "shpca_", "shppa_", "shpss_")
    ),
    _prefixed("a Square token", "sq0atp-", f"{URL}{{22}}"),
    _prefixed("a Square secret", "sq0csp-", f"{URL}{{43}}"),
    _prefixed("a Square token", "EAAA", f"{URL}{{60}}"),
    (
        "a PayPal token",
        "access_token$production$",
        rf"access_token\$production\$[a-z0-9]{{16}}\${HEX}{{32}}\b",
    ),
    _prefixed("a Razorpay key", "rzp_live_", f"{WORD}{{14}}"),
    _prefixed("a Flutterwave key", "FLWSECK-", f"{HEX}{{32}}-X"),
    _prefixed("an EasyPost key", "EZAK", f"{WORD}{{54}}"),
    _prefixed("a Shippo token", "shippo_live_", f"{HEX}{{40}}"),
    _prefixed("a Plaid token", "access-production-", UUID),
    _prefixed("a Duffel token", "duffel_live_", "[A-Za-z0-9_=-]{43}"),
    # --- watching
    _prefixed("a New Relic key", "NRAK-", "[A-Z0-9]{27}"),
    _prefixed("a New Relic key", "NRII-", f"{URL}{{32}}"),
    ("a New Relic key", "FFFFNRAL", rf"{START}([0-9a-z]{{32}})FFFFNRAL{END}"),
    _prefixed("a Sentry token", "sntryu_", f"{HEX}{{64}}"),
    _prefixed("a Sentry token", "sntrys_", "eyJ[A-Za-z0-9+/=_-]{60,600}"),
    _prefixed("a Grafana token", "glsa_", f"{WORD}{{32}}_[0-9a-fA-F]{{8}}"),
    _prefixed("a Grafana token", "glc_", "[A-Za-z0-9+/]{32,400}={0,3}"),
    _prefixed("a Grafana key", "eyJrIjoi", f"{WORD}{{70,400}}={{0,3}}"),
    _prefixed("a Dynatrace token", "dt0c01.", rf"{WORD}{{24}}\.{WORD}{{64}}"),
    # --- documents, designs, people
    _prefixed("a Linear key", "lin_api_", f"{WORD}{{40}}"),
    _prefixed("a Notion token", "ntn_", f"[0-9]{{11}}{WORD}{{35}}"),
    _prefixed("a Notion token", "secret_", f"{WORD}{{43}}"),
    _prefixed("a Figma token", "figd_", f"{URL}{{40,60}}"),
    _prefixed("an Airtable token", "pat", rf"{WORD}{{14}}\.{HEX}{{64}}"),
    ("an Asana token", ":", rf"{START}[12]/[0-9]{{16}}(?:/[0-9]{{16}})?:{HEX}{{32}}{END}"),
    ("a HubSpot token", "pat-", rf"{START}pat-(?:na|eu)[0-9]-{UUID}{END}"),
    _prefixed("a Contentful token", "CFPAT-", f"{URL}{{43}}"),
    _prefixed("a Typeform token", "tfp_", "[A-Za-z0-9_.=-]{59}"),
    _prefixed("a Frame.io token", "fio-u-", "[A-Za-z0-9_=-]{64}"),
    ("a Mapbox token", "sk.eyJ", rf"{START}sk\.eyJ{WORD}{{50,120}}\.{URL}{{22}}{END}"),
    ("a MaxMind key", "_mmk", rf"{START}{WORD}{{6}}_{WORD}{{29}}_mmk{END}"),
    _prefixed("an Adobe secret", "p8e-", f"{WORD}{{32}}"),
    _prefixed("a Dropbox token", "sl.", "[A-Za-z0-9_=.-]{130,1500}"),
    _prefixed("a Facebook token", "EAA", f"{WORD}{{100,400}}"),
    ("a Facebook token", "|", rf"{START}[0-9]{{15,16}}\|{URL}{{27}}{END}"),
    ("a Twitter token", "A" * 22, rf"{START}A{{22}}((?!A)[A-Za-z0-9%]{{80,100}}){END}"),
    # --- of no single service
    (
        "a web token (JWT)",
        ".eyJ",
        rf"(?<![A-Za-z0-9_.-])eyJ{URL}{{15,2000}}\.eyJ{URL}{{15,4000}}\.{URL}{{27,800}}{END}",
    ),
)

SERVICES = (
    "adafruit|airtable|algolia|alibaba|amplitude|asana|atlassian|auth0|aws|azure|bitbucket|"
    "cloudflare|codecov|cohere|coinbase|confluence|confluent|contentful|databricks|datadog|"
    "devops|digitalocean|discord|docker|dockerhub|dropbox|elastic|etsy|facebook|fastly|"
    "firebase|flickr|freshbooks|github|gitlab|gitter|google|grafana|heroku|hubspot|intercom|"
    "jenkins|jfrog|jira|kraken|launchdarkly|linear|linkedin|linode|looker|mailchimp|mailgun|"
    "mapbox|mattermost|messagebird|mixpanel|netlify|new_relic|newrelic|notion|npm|okta|openai|"
    "opsgenie|pagerduty|paypal|plaid|postmark|pusher|rapidapi|rollbar|segment|sendbird|"
    "sendgrid|sentry|shopify|slack|snyk|sonar|spotify|square|stripe|sumologic|telegram|travis|"
    "trello|twilio|twitch|twitter|typeform|vault|vercel|vultr|yandex|zendesk|zoom"
)
"""An alternative of a pattern for each service."""
