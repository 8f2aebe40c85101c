"""Addresses below /api/ that belong to people and their work."""

from django.urls import path

from profiles import api
from profiles.reports import api as report_api

urlpatterns = [
    path("auth/login", api.Login.as_view(), name="api-login"),
    path("auth/logout", api.Logout.as_view(), name="api-logout"),
    path("people", api.People.as_view(), name="people"),
    path("tasks", api.TaskList.as_view(), name="task-list"),
    path("tasks/<int:task_id>", api.TaskDetail.as_view(), name="task-detail"),
    path("memory/profile", api.Profile.as_view(), name="own-profile"),
    path("memory/profile/<int:user_id>", api.ProfileOfReport.as_view(), name="profile-of-report"),
    path("memory/profile/access-log", api.AccessLog.as_view(), name="access-log"),
    path("memory/profile/report", report_api.ReportList.as_view(), name="report-list"),
    path("memory/profile/report/<uuid:report_id>", report_api.ReportDetail.as_view(), name="report-detail"),
    path("memory/profile/report/<uuid:report_id>/sign", report_api.ReportSign.as_view(), name="report-sign"),
    path("memory/profile/report/<uuid:report_id>/share", report_api.ReportShare.as_view(), name="report-share"),
    path(
        "memory/profile/report/<uuid:report_id>/response", report_api.ReportResponse.as_view(), name="report-response"
    ),
]
