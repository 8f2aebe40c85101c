"""Departments: a tree, each with the auth group that grants are given to."""

import re
from typing import Any

from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

from profiles.models.lines import is_cycle, lock_lines
from profiles.models.membership import refresh_membership


class Department(models.Model):
    """A part of the organisation.

    It owns a group, which everybody in it and in the departments below it is a member of: flows and knowledge are
    granted to groups, so that packages below need to know nothing of departments.
    """

    name = models.CharField(_("name"), max_length=80, unique=True)
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="parts", verbose_name=_("part of")
    )
    group = models.OneToOneField(
        Group, on_delete=models.PROTECT, related_name="department", editable=False, verbose_name=_("group")
    )

    class Meta:
        ordering = ("name",)
        verbose_name = _("department")
        verbose_name_plural = _("departments")

    def __str__(self) -> str:
        return self.name

    @transaction.atomic
    def save(self, *args: Any, **kwargs: Any) -> None:
        """Keeps the group's name and members in step. Raises IntegrityError for a cycle that slipped through."""
        lock_lines()
        if not hasattr(self, "group"):
            self.group = Group.objects.create(name=_free_name(self.name))
        elif not re.fullmatch(rf"{re.escape(self.name)}( \(\d+\))?", self.group.name):
            Group.objects.filter(pk=self.group_id).update(name=_free_name(self.name, own=self.group_id))
        super().save(*args, **kwargs)
        refresh_membership()

    def clean(self) -> None:
        """Refuses a parent that lies below the department itself."""
        if self.pk and is_cycle(Department, self.pk, up="parent_id", to=self.parent_id):
            raise ValidationError({"parent": _("This department lies below the one you are editing.")})


def _free_name(name: str, *, own: int = 0) -> str:
    """The department's name, numbered when another group has it.

    A group that is there already is never taken over: it may carry powers that were not meant for a department.
    """
    taken = set(Group.objects.exclude(pk=own).filter(name__startswith=name).values_list("name", flat=True))
    names = (name, *(f"{name} ({number})" for number in range(2, len(taken) + 3)))
    return next(free for free in names if free not in taken)
