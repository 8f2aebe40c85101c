from django.apps import AppConfig


class FlowsAppConfig(AppConfig):
    name = "flows"
