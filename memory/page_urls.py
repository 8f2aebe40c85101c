"""Addresses of the memory page, and of the fragments that its scripts fetch."""

from django.urls import path

from memory import views

urlpatterns = [
    path("memory/", views.MemoryPage.as_view(), name="memory_page"),
    path("memory/list/", views.MemoryList.as_view(), name="memory_list"),
    path("memory/<uuid:episode_id>/", views.MemoryItem.as_view(), name="memory_item"),
]
