"""Flows that people keep at hand."""

from typing import Self

from django.conf import settings
from django.db import models

from flows.models.flow import Flow
from memory.person import Person


class FavouriteQuerySet(models.QuerySet["Favourite"]):
    def of(self, user: Person) -> Self:
        """The favourites of `user`."""
        return self.filter(user_id=user.pk) if user.pk else self.none()


class Favourite(models.Model):
    """One person's mark on one flow."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="favourites")
    flow = models.ForeignKey(Flow, on_delete=models.CASCADE, related_name="favourites")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = FavouriteQuerySet.as_manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["user", "flow"], name="favourite_once"),)

    def __str__(self) -> str:
        return f"favourite {self.flow_id} of user {self.user_id}"
