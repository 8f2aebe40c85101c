"""What a server does with the model connections of its event loop when it starts and when it stops."""

import sys
import threading
from importlib import import_module

import structlog

from llm.embedders import resolve_embedder
from llm.errors import ProviderError

logger = structlog.get_logger(__name__)


async def aopen() -> None:
    """Loads the client library and builds the pool: a second that the first chat would else wait.

    The embedder is loaded beside, in a thread: it takes as long again, and whoever comes first can do without.
    """
    threading.Thread(target=_warm, name="warm-embedder", daemon=True).start()
    import_module("llm.openai").prepare()


async def aclose() -> None:
    """Closes the connections of the running event loop; streams that still run end with an error."""
    openai = sys.modules.get("llm.openai")
    if openai is not None:
        await openai.aclose()


def _warm() -> None:
    embedder = resolve_embedder()
    if embedder is None:
        return
    try:
        embedder.warm()
    except (ProviderError, ImportError, OSError) as error:
        logger.warning("embedder not ready", model=embedder.model, error=type(error).__name__)
