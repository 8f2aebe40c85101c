from typing import Any

from django.apps import AppConfig


class FlowsAppConfig(AppConfig):
    """Flows, the engine that runs them, and the turns that people take in them."""

    name = "flows"

    def ready(self) -> None:
        from asgiref.sync import async_to_sync
        from django.db.models import F

        from flows import notices, proposals, relay  # need settings
        from flows.models import Favourite
        from memory.signals import exporting, session_changed, turns_erased
        from profiles.signals import report_ready, task_assigned, task_overdue

        def forget(user_id: int, session_ids: list[Any], turn_ids: list[Any], **_: Any) -> None:
            relay.delete_streams(turn_ids)
            async_to_sync(notices.sessions_erased)(user_id, session_ids)

        def tell(user_id: int, session_id: Any, **_: Any) -> None:
            notices.send_from_job(user_id, "session.changed", session_id=str(session_id))

        def tell_of_work(user_id: int, task_id: int, **_: Any) -> None:
            notices.send_from_job(user_id, "task.assigned", task_id=task_id)

        def tell_of_overdue_work(user_id: int, task_ids: list[int], **_: Any) -> None:
            async_to_sync(notices.tasks_overdue)(user_id, task_ids)

        def tell_of_report(user_id: int, report_id: Any, **_: Any) -> None:
            notices.send_from_job(user_id, "report.ready", report_id=str(report_id))

        def held(user: Any, **_: Any) -> dict[str, Any]:
            mine = Favourite.objects.of(user).order_by("pk").values("flow_id", "created_at", slug=F("flow__slug"))
            return {"favourites": list(mine), "actions": proposals.held(user)}

        exporting.connect(held, weak=False, dispatch_uid="flows.export")
        session_changed.connect(tell, weak=False, dispatch_uid="flows.notices")
        turns_erased.connect(forget, weak=False, dispatch_uid="flows.erased")
        task_assigned.connect(tell_of_work, weak=False, dispatch_uid="flows.work")
        task_overdue.connect(tell_of_overdue_work, weak=False, dispatch_uid="flows.overdue")
        report_ready.connect(tell_of_report, weak=False, dispatch_uid="flows.reports")
