import django.utils.timezone
from django.db import migrations, models

# What is overdue already when this arrives is no news.
KNOWN = "UPDATE profiles_worktask SET overdue_told_for = due_at WHERE due_at < now()"


class Migration(migrations.Migration):
    dependencies = [("profiles", "0010_reports")]

    operations = [
        migrations.AddField(
            model_name="profiletag",
            name="noticed_at",
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
        migrations.AddField(
            model_name="worktask",
            name="overdue_told_for",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddIndex(
            model_name="profiletag",
            index=models.Index(
                condition=models.Q(("status", "suggested")), fields=["noticed_at"], name="tag_suggested"
            ),
        ),
        migrations.AddIndex(
            model_name="worktask",
            index=models.Index(
                condition=models.Q(("status__in", ("open", "in_progress"))), fields=["due_at"], name="task_due"
            ),
        ),
        migrations.RunSQL(KNOWN, migrations.RunSQL.noop),
    ]
