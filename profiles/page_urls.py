"""Addresses of the pages about work, and about oneself."""

from django.urls import path

from profiles import views
from profiles.reports import views as report_views

urlpatterns = [
    path("tasks/", views.TasksView.as_view(), name="tasks"),
    path("tasks/<int:task_id>/edit/", views.TaskEditView.as_view(), name="task_edit"),
    path("tasks/<int:task_id>/status/", views.TaskMoveView.as_view(), name="task_move"),
    path("profile/", views.ProfileView.as_view(), name="profile_page"),
    path("profile/preferences/", views.PreferencesView.as_view(), name="profile_preferences"),
    path("profile/tags/", views.TagView.as_view(), name="profile_tag"),
    path("profile/reports/<uuid:report_id>/", report_views.ReportView.as_view(), name="report_page"),
    path("profile/reports/<uuid:report_id>/response/", report_views.ReportAnswerView.as_view(), name="report_answer"),
    path("profile/reports/<uuid:report_id>/sign/", report_views.ReportSignView.as_view(), name="report_sign"),
    path("profile/reports/<uuid:report_id>/share/", report_views.ReportShareView.as_view(), name="report_share"),
]
