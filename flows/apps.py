from typing import Any

from django.apps import AppConfig


class FlowsAppConfig(AppConfig):
    """Flows, the engine that runs them, and the turns that people take in them."""

    name = "flows"

    def ready(self) -> None:
        from flows import notices, relay  # need settings
        from memory.signals import session_changed, turns_erased

        def forget(turn_ids: list[Any], **_: Any) -> None:
            relay.delete_streams(turn_ids)

        def tell(user_id: int, session_id: Any, **_: Any) -> None:
            notices.send_from_job(user_id, "session.changed", session_id=str(session_id))

        session_changed.connect(tell, weak=False, dispatch_uid="flows.notices")
        turns_erased.connect(forget, weak=False, dispatch_uid="flows.relay")
