"""Which models answer and embed unless a stored profile says otherwise. Every name here is a setting."""

from config import env

LLM_BASE_URL = env.text("LLM_BASE_URL", default="")
LLM_API_KEY = env.secret("LLM_API_KEY", required=False)
LLM_MODEL = env.text("LLM_MODEL", default="")
LLM_DEADLINES = {"connect": 5, "first_token": 60, "idle": 30, "total": 600}
"""Seconds: to connect, to the first piece of the answer, between two pieces, for the whole answer."""
LLM_RETRIES = 2
LLM_OFFLINE_DELAY = 0.015

EMBEDDING_BASE_URL = env.text("EMBEDDING_BASE_URL", default="")
EMBEDDING_API_KEY = env.secret("EMBEDDING_API_KEY", required=False)
EMBEDDING_MODEL = env.text("EMBEDDING_MODEL", default="")
"""With an address or a key: the model of that endpoint. `none`: words alone are searched. Else the local one."""
