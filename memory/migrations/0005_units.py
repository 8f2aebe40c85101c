import django.db.models.deletion
import django.utils.timezone
import pgvector.django.halfvec
from django.conf import settings
from django.db import migrations, models

# The primary key brings the rest of the row, so that the words of a query are read from the index alone. Rows come in
# without a pause, so the map that lets an index stand for the table is renewed more often than by default.
POSTINGS = """
ALTER TABLE memory_posting DROP CONSTRAINT memory_posting_pkey;
ALTER TABLE memory_posting ADD CONSTRAINT memory_posting_pkey
    PRIMARY KEY (user_id, token, unit_id) INCLUDE (tf, length);
ALTER TABLE memory_posting SET (
    autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05
);
"""

# Vectors of many owners are written in turn: in the table each one's lie scattered. This index keeps them together with
# their numbers. An index entry has room for 1200 of them; longer vectors are read from the table. They stay in its
# pages (up to 4000 numbers), out of the store for large values.
VECTORS = """
ALTER TABLE memory_unitvector ALTER COLUMN embedding SET STORAGE PLAIN;
ALTER TABLE memory_unitvector SET (
    autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05
);
CREATE INDEX unit_vector_of_owner ON memory_unitvector (user_id, model_id, unit_id) INCLUDE (embedding)
    WHERE vector_dims(embedding) <= 1200;
"""

# Statement by statement, not row by row: erasing twenty thousand units is one deletion here too. Both tables are
# reached through their indexes, whatever a planner without figures for the transition table would think of.
GONE = """
CREATE FUNCTION memory_unit_gone() RETURNS trigger LANGUAGE plpgsql
    SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off
AS $$
BEGIN
    DELETE FROM memory_posting posting USING gone WHERE posting.unit_id = gone.id;
    DELETE FROM memory_unitvector vector USING gone WHERE vector.user_id = gone.user_id AND vector.unit_id = gone.id;
    RETURN NULL;
END $$;
CREATE TRIGGER memory_unit_gone AFTER DELETE ON memory_unit
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION memory_unit_gone();
"""
STAYED = """
DROP TRIGGER memory_unit_gone ON memory_unit;
DROP FUNCTION memory_unit_gone();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0004_search_and_summary_cursors"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL("CREATE EXTENSION IF NOT EXISTS vector", migrations.RunSQL.noop),
        migrations.CreateModel(
            name="VectorModel",
            fields=[
                ("id", models.SmallAutoField(primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=200, unique=True)),
                ("dimension", models.PositiveSmallIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="Unit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=[("turn", "turn"), ("episode", "episode")], max_length=8)),
                ("flow_id", models.BigIntegerField(blank=True, null=True)),
                ("seq", models.PositiveIntegerField(default=0)),
                ("occurred_at", models.DateTimeField()),
                ("text", models.TextField()),
                ("answer_at", models.PositiveIntegerField(default=0)),
                ("context", models.TextField(blank=True, default="")),
                ("length", models.PositiveIntegerField()),
                ("tokens_version", models.PositiveSmallIntegerField()),
                ("weight", models.FloatField(default=1.0)),
                ("vector_due", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "conversation",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="units",
                        to="memory.conversation",
                    ),
                ),
                (
                    "turn",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="unit",
                        to="memory.turn",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="units",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["user", "flow_id", "id"], include=("length", "conversation"), name="unit_of_owner"
                    ),
                    models.Index(fields=["tokens_version"], name="unit_tokens_version"),
                    models.Index(condition=models.Q(("vector_due", True)), fields=["id"], name="unit_vector_due"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Posting",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "user", "token", "unit", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "unit",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="postings",
                        to="memory.unit",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("length", models.IntegerField()),
                ("tf", models.SmallIntegerField()),
                ("token", models.TextField(db_collation="C")),
            ],
            options={"indexes": [models.Index(fields=["unit"], name="posting_of_unit")]},
        ),
        migrations.CreateModel(
            name="UnitVector",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "user", "unit", "model", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "unit",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="vectors",
                        to="memory.unit",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="vectors",
                        to="memory.vectormodel",
                    ),
                ),
                ("embedding", pgvector.django.halfvec.HalfVectorField()),
            ],
        ),
        migrations.RunSQL(POSTINGS, migrations.RunSQL.noop),
        migrations.RunSQL(VECTORS, migrations.RunSQL.noop),
        migrations.RunSQL(GONE, STAYED),
    ]
