from django.apps import AppConfig


class ProfilesAppConfig(AppConfig):
    name = "profiles"
