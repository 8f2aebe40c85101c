"""Addresses below /api/ that belong to people."""

from django.urls import path

from profiles import api

urlpatterns = [
    path("auth/login", api.Login.as_view(), name="api-login"),
    path("auth/logout", api.Logout.as_view(), name="api-logout"),
]
