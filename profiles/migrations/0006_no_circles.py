"""Triggers that refuse a circle in the reporting line or the tree of departments, however the row is written.

They look under the advisory lock of `profiles/models/lines.py`, because two changes that are harmless alone could close
a circle together; a query in a trigger sees what was committed while it waited.
"""

from django.db import migrations

FUNCTION = """
CREATE FUNCTION {table}_no_circle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.{up} IS NULL OR (TG_OP = 'UPDATE' AND NEW.{up} IS NOT DISTINCT FROM OLD.{up}) THEN
        RETURN NEW;
    END IF;
    PERFORM pg_advisory_xact_lock(502807);
    IF EXISTS (
        WITH RECURSIVE above (id) AS (
            SELECT NEW.{up}::bigint
            UNION
            SELECT line.{up}::bigint FROM {table} line JOIN above ON line.{key} = above.id WHERE line.{up} IS NOT NULL
        ) SELECT 1 FROM above WHERE id = NEW.{key}
    ) THEN
        RAISE EXCEPTION '{table} would close a circle' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER no_circle BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION {table}_no_circle();
"""
BACK = "DROP TRIGGER no_circle ON {table}; DROP FUNCTION {table}_no_circle();"
LINES = (
    {"table": "profiles_userprofile", "up": "manager_id", "key": "user_id"},
    {"table": "profiles_department", "up": "parent_id", "key": "id"},
)


class Migration(migrations.Migration):
    dependencies = [("profiles", "0005_remove_department_text")]

    operations = [migrations.RunSQL(FUNCTION.format(**line), BACK.format(**line)) for line in LINES]
