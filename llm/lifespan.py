"""What a server does with the model connections of its event loop when it starts and when it stops."""

import sys
from importlib import import_module


async def aopen() -> None:
    """Loads the client library and builds the pool: a second that the first chat would else wait."""
    import_module("llm.openai").prepare()


async def aclose() -> None:
    """Closes the connections of the running event loop; streams that still run end with an error."""
    openai = sys.modules.get("llm.openai")
    if openai is not None:
        await openai.aclose()
