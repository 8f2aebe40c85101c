"""Flows, and the versions of them that people talk to."""

from typing import Any, Self

from django.contrib.auth.models import Group, User
from django.db import models
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from memory.person import Person


class Category(models.TextChoices):
    """The shelves of the catalogue."""

    EVERYDAY = "everyday", _("Everyday")
    WRITING = "writing", _("Writing")
    PEOPLE = "people", _("People and work")
    KNOWLEDGE = "knowledge", _("Knowledge")
    OTHER = "other", _("Other")


class FlowQuerySet(models.QuerySet["Flow"]):
    def usable_by(self, user: Person) -> Self:
        """Published flows that `user` may talk to: open ones, and those granted to one of their groups.

        A user who was deactivated may use none, however old the login is.
        """
        active = User.objects.filter(pk=user.pk, is_active=True)
        granted = Group.objects.filter(user=user.pk, flow=models.OuterRef("pk"))
        open_to_all = ~models.Exists(Group.objects.filter(flow=models.OuterRef("pk")))
        published = self.filter(published_version__isnull=False, is_archived=False)
        return published.filter(models.Exists(active), open_to_all | models.Exists(granted))


class Flow(models.Model):
    """A ready-made conversation: its place in the catalogue, and who may use it.

    `translations` holds `{language: {name, description, starters}}` for languages other than the first.
    Without groups everybody may use the flow.
    """

    slug = models.SlugField(unique=True, max_length=60)
    name = models.CharField(_("name"), max_length=120)
    description = models.CharField(_("description"), max_length=300, blank=True, default="")
    icon = models.CharField(_("icon"), max_length=30, default="chat")
    category = models.CharField(_("category"), max_length=20, choices=Category.choices, default=Category.EVERYDAY)
    starters = models.JSONField(_("starter prompts"), default=list, blank=True)
    translations = models.JSONField(default=dict, blank=True)
    groups = models.ManyToManyField(Group, blank=True, verbose_name=_("allowed groups"))
    is_archived = models.BooleanField(_("archived"), default=False)
    published_version = models.PositiveIntegerField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = FlowQuerySet.as_manager()

    class Meta:
        ordering = ("category", "pk")
        verbose_name = _("flow")
        verbose_name_plural = _("flows")

    def __str__(self) -> str:
        return self.name

    def shown(self) -> dict[str, Any]:
        """`{name, description, starters}` in the reader's language."""
        first: dict[str, Any] = {"name": self.name, "description": self.description, "starters": self.starters}
        translated: dict[str, Any] = self.translations.get(get_language() or "", {})
        return first | translated

    def publish(self, definition: dict[str, Any]) -> "FlowVersion":
        """Makes `definition` the next version, which new sessions get. It must have been validated."""
        number = (self.published_version or 0) + 1
        version = FlowVersion.objects.create(flow=self, number=number, definition=definition)
        self.published_version = number
        self.save(update_fields=["published_version"])
        return version


class FlowVersion(models.Model):
    """One published definition. It never changes: the sessions that began with it stay with it."""

    flow = models.ForeignKey(Flow, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    definition = models.JSONField()
    published_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("flow", "-number")
        constraints = (models.UniqueConstraint(fields=["flow", "number"], name="flow_version_once"),)

    def __str__(self) -> str:
        return f"{self.flow_id}.{self.number}"
