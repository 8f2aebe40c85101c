"""The admin as an application: with our own site in place of Django's."""

from django.contrib.admin.apps import AdminConfig


class TacitAdmin(AdminConfig):
    default_site = "config.admin_site.TacitAdminSite"
