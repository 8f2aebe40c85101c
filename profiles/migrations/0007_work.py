import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0001_initial"),
        ("profiles", "0006_no_circles"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="WorkTask",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("title", models.CharField(max_length=200, verbose_name="title")),
                ("description", models.TextField(blank=True, default="", max_length=5000, verbose_name="description")),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("open", "to do"),
                            ("in_progress", "in progress"),
                            ("done", "done"),
                            ("cancelled", "cancelled"),
                        ],
                        default="open",
                        max_length=11,
                        verbose_name="status",
                    ),
                ),
                ("due_at", models.DateTimeField(blank=True, null=True, verbose_name="due")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="given")),
                ("completed_at", models.DateTimeField(blank=True, null=True, verbose_name="finished")),
                ("seen_at", models.DateTimeField(blank=True, null=True)),
                ("client_key", models.CharField(blank=True, max_length=100, null=True)),
                (
                    "assignee",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tasks",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="for",
                    ),
                ),
                (
                    "creator",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="tasks_given",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="given by",
                    ),
                ),
                (
                    "source_turn",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="memory.turn",
                    ),
                ),
            ],
            options={
                "verbose_name": "task",
                "verbose_name_plural": "tasks",
                "ordering": ("-created_at", "-pk"),
            },
        ),
        migrations.CreateModel(
            name="WorkEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("field", models.CharField(max_length=20)),
                ("before", models.CharField(blank=True, default="", max_length=200)),
                ("after", models.CharField(blank=True, default="", max_length=200)),
                (
                    "actor",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "task",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="events", to="profiles.worktask"
                    ),
                ),
            ],
            options={
                "ordering": ("at", "pk"),
            },
        ),
        migrations.AddIndex(
            model_name="worktask",
            index=models.Index(fields=["assignee", "status", "due_at"], name="task_of_assignee"),
        ),
        migrations.AddIndex(
            model_name="worktask",
            index=models.Index(fields=["creator", "-created_at"], name="task_of_creator"),
        ),
        migrations.AddConstraint(
            model_name="worktask",
            constraint=models.UniqueConstraint(fields=("creator", "client_key"), name="task_client_key_once"),
        ),
        migrations.AddConstraint(
            model_name="worktask",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("completed_at__isnull", False), ("status", "done")),
                    models.Q(models.Q(("status", "done"), _negated=True), ("completed_at", None)),
                    _connector="OR",
                ),
                name="task_completed_when_done",
            ),
        ),
        migrations.AddIndex(
            model_name="workevent",
            index=models.Index(fields=["task", "at"], name="event_of_task"),
        ),
    ]
