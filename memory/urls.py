"""Addresses below /api/memory/."""

from django.urls import path

from memory import api

urlpatterns = [
    path("sessions", api.SessionList.as_view(), name="session-list"),
    path("sessions/<uuid:session_id>", api.SessionDetail.as_view(), name="session-detail"),
    path("sessions/<uuid:session_id>/export", api.SessionExport.as_view(), name="session-export"),
    path("sessions/<uuid:session_id>/share", api.SessionShare.as_view(), name="session-share"),
    path("erase", api.Erase.as_view(), name="memory-erase"),
    path("settings", api.Settings.as_view(), name="memory-settings"),
]
