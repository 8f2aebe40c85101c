"""Every address of the product."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from config import health
from config.errors import ApiNotFound
from profiles.views import set_language

urlpatterns = [
    path("metrics", health.metrics),
    path("api/schema", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
    path("api/memory/", include("memory.urls")),
    path("api/", include("flows.urls")),
    path("api/", include("profiles.urls")),
    re_path(r"^(api|v1)(/|$)", ApiNotFound.as_view()),
    path("admin/", admin.site.urls),
    path("accounts/login/", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("accounts/logout/", auth.LogoutView.as_view(), name="logout"),
    path("i18n/setlang/", set_language, name="set_language"),
    path("", include("memory.page_urls")),
    path("", include("profiles.page_urls")),
    path("", include("flows.page_urls")),
]
