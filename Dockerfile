# A container that serves a store over MCP:
#   docker build -t quire .
#   docker run --rm -i -v "$PWD:/project" quire mcp
# Everything is installed from the lock with its hashes. Quire runs as a user of its own: where your
# files belong to another, add `--user "$(id -u):$(id -g)"`.
FROM python:3.13-slim AS build
WORKDIR /source
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY requirements/release.txt requirements/run.txt requirements/
RUN python -m venv /build \
    && /build/bin/pip install --require-hashes -r requirements/release.txt \
    && python -m venv --without-pip /quire \
    && /build/bin/pip --python /quire/bin/python install --require-hashes --only-binary :all: \
        -r requirements/run.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /build/bin/python -m build --no-isolation --wheel \
    && /build/bin/pip --python /quire/bin/python install --no-index --no-deps dist/*.whl

FROM python:3.13-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home quire
COPY --from=build /quire /quire
ENV PATH=/quire/bin:$PATH PYTHONDONTWRITEBYTECODE=1
USER 10001
WORKDIR /project
ENTRYPOINT ["quire"]
CMD ["--help"]
