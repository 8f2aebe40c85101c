"""Addresses of the pages, and of the fragments that their scripts fetch."""

from django.urls import path, re_path

from flows import views

urlpatterns = [
    path("", views.CatalogueView.as_view(), name="catalogue"),
    path("flows/sessions/", views.SessionListView.as_view(), name="session_list"),
    path("flows/turns/<uuid:turn_id>/", views.TurnDetailView.as_view(), name="turn_detail"),
    path("flows/turns/<uuid:turn_id>/recalled/", views.RecalledView.as_view(), name="turn_recalled"),
    path("flows/<int:flow_id>/", views.ChatView.as_view(), name="chat"),
    path("flows/<int:flow_id>/<uuid:session_id>/", views.ChatView.as_view(), name="chat_session"),
    path("shared/<str:token>/", views.SharedView.as_view(), name="shared"),
    re_path(r"^flows/.+/$", views.nothing_here),
]
