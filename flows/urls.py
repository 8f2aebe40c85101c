"""Addresses below /api/ that belong to flows and turns."""

from django.urls import path

from flows import api

urlpatterns = [
    path("flows", api.FlowList.as_view(), name="flow-list"),
    path("flows/<int:pk>", api.FlowDetail.as_view(), name="flow-detail"),
    path("flows/<int:flow_id>/favourite", api.FlowFavourite.as_view(), name="flow-favourite"),
    path("flows/<int:flow_id>/memory", api.FlowMemory.as_view(), name="flow-memory"),
    path("flows/<int:flow_id>/execute", api.Execute.as_view(), name="flow-execute"),
    path("flows/<int:flow_id>/stream", api.Stream.as_view(), name="flow-stream"),
    path("turns/<uuid:turn_id>", api.TurnDetail.as_view(), name="turn-detail"),
    path("turns/<uuid:turn_id>/events", api.TurnEvents.as_view(), name="turn-events"),
    path("turns/<uuid:turn_id>/stop", api.TurnStop.as_view(), name="turn-stop"),
    path("turns/<uuid:turn_id>/regenerate", api.TurnRegenerate.as_view(), name="turn-regenerate"),
    path("turns/<uuid:turn_id>/feedback", api.TurnFeedback.as_view(), name="turn-feedback"),
    path("actions/<uuid:action_id>", api.ActionDetail.as_view(), name="action-detail"),
]
