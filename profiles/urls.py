"""Addresses below /api/ that belong to people and their work."""

from django.urls import path

from profiles import api

urlpatterns = [
    path("auth/login", api.Login.as_view(), name="api-login"),
    path("auth/logout", api.Logout.as_view(), name="api-logout"),
    path("people", api.People.as_view(), name="people"),
    path("tasks", api.TaskList.as_view(), name="task-list"),
    path("tasks/<int:task_id>", api.TaskDetail.as_view(), name="task-detail"),
    path("memory/profile", api.Profile.as_view(), name="own-profile"),
    path("memory/profile/<int:user_id>", api.ProfileOfReport.as_view(), name="profile-of-report"),
    path("memory/profile/access-log", api.AccessLog.as_view(), name="access-log"),
]
