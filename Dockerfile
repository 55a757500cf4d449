# The pipeline as a service, offline, as a user without rights: docs/container.md
FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
RUN python -m venv /opt/convinse \
    && /opt/convinse/bin/pip install --no-cache-dir --disable-pip-version-check --constraint constraints.txt . \
    && /opt/convinse/bin/pip uninstall --yes pip

FROM python:3.13-slim
LABEL org.opencontainers.image.title="convinse" \
      org.opencontainers.image.description="Conversational question answering over heterogeneous evidence" \
      org.opencontainers.image.licenses="MIT AND Apache-2.0"
RUN useradd --uid 10001 --create-home convinse \
    && install --directory --owner convinse --mode 0700 /var/cache/convinse
COPY --from=build /opt/convinse /opt/convinse
ENV PATH=/opt/convinse/bin:$PATH \
    XDG_CACHE_HOME=/var/cache \
    PYTHONUNBUFFERED=1 \
    MALLOC_ARENA_MAX=1 \
    CONVINSE_OFFLINE=1 \
    HF_HUB_OFFLINE=1 \
    ORT_DISABLE_TELEMETRY=1
USER 10001
WORKDIR /home/convinse
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8080/healthz', timeout=8).close()"]
ENTRYPOINT ["convinse"]
CMD ["serve", "api", "--host", "0.0.0.0"]
