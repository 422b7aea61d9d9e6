# A container that serves a store over HTTP (deploy/compose.yaml, docs/operate.md), or over MCP:
#   docker build -t quire .
#   docker run --rm -i -v "$PWD:/project" quire mcp
# It runs with a read-only root file system; what it writes is in /data and the project's .quire.
# Everything is installed from the lock with its hashes. Quire runs as a user of its own: where your
# files belong to another, add `--user "$(id -u):$(id -g)"`.
# For a store on a PostgreSQL server, add the driver, which is under the LGPL:
#   docker build --build-arg LOCK=postgresql -t quire .
FROM python:3.13-slim AS build
WORKDIR /source
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
ARG LOCK=run
COPY requirements/release.txt requirements/run.txt requirements/postgresql.txt requirements/
RUN python -m venv /build \
    && /build/bin/pip install --require-hashes -r requirements/release.txt \
    && python -m venv --without-pip /quire \
    && /build/bin/pip --python /quire/bin/python install --require-hashes --only-binary :all: \
        -r requirements/${LOCK}.txt
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
COPY model model
RUN /build/bin/python -m build --no-isolation --wheel \
    && /build/bin/python -m build --no-isolation --wheel --outdir dist model \
    && /build/bin/pip --python /quire/bin/python install --no-index --no-deps dist/*.whl

FROM python:3.13-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home quire \
    && install --directory --owner=10001 --group=10001 --mode=700 /data
COPY --from=build /quire /quire
ENV PATH=/quire/bin:$PATH PYTHONDONTWRITEBYTECODE=1
USER 10001
WORKDIR /project
EXPOSE 8642
ENTRYPOINT ["quire"]
CMD ["--help"]
