"""Addresses below /api/memory/."""

from django.urls import path

from memory.api import episodes, graph, sessions

urlpatterns = [
    path("sessions", sessions.SessionList.as_view(), name="session-list"),
    path("sessions/<uuid:session_id>", sessions.SessionDetail.as_view(), name="session-detail"),
    path("sessions/<uuid:session_id>/export", sessions.SessionExport.as_view(), name="session-export"),
    path("sessions/<uuid:session_id>/share", sessions.SessionShare.as_view(), name="session-share"),
    path("episodes", episodes.EpisodeList.as_view(), name="episode-list"),
    path("episodes/<uuid:episode_id>", episodes.EpisodeDetail.as_view(), name="episode-detail"),
    path("episodes/<uuid:episode_id>/take-back", episodes.EpisodeTakeBack.as_view(), name="episode-take-back"),
    path("graph", graph.GraphView.as_view(), name="memory-graph"),
    path("relations/<int:relation_id>", graph.RelationDetail.as_view(), name="relation-detail"),
    path("erase", sessions.Erase.as_view(), name="memory-erase"),
    path("export", sessions.Export.as_view(), name="memory-export"),
    path("search", sessions.Search.as_view(), name="memory-search"),
    path("settings", sessions.Settings.as_view(), name="memory-settings"),
]
