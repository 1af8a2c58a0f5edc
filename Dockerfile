# One image for every process; docker-compose.yml gives each its command.
FROM python:3.12-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /app
RUN python -m venv /venv
COPY pyproject.toml requirements.lock ./
COPY scripts/pip.lock scripts/
RUN /venv/bin/pip install --require-hashes -r scripts/pip.lock
# The lock serves as constraints, so that only the named groups are installed, each file checked against its hash.
RUN /venv/bin/pip install --constraint requirements.lock hatchling --group server --group embedded
COPY . .
RUN /venv/bin/pip install --no-deps --no-build-isolation --editable .

FROM python:3.12-slim
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 SIDESTREAM_DATA_DIR=/data
RUN groupadd --gid 10001 sidestream \
    && useradd --uid 10001 --gid sidestream --no-create-home --shell /usr/sbin/nologin sidestream \
    && install --directory --owner sidestream --group sidestream --mode 0700 /data
WORKDIR /app
COPY --from=build /venv /venv
COPY --from=build /app /app
USER sidestream
VOLUME /data
EXPOSE 8700
CMD ["sidestream", "serve"]
