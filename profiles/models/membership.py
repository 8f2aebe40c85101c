"""Groups of departments follow the departments of people."""

from django.db import connection

# Two statements, whatever the number of people: who belongs where is a walk up the tree.
_DUE = """
    WITH RECURSIVE above (department_id, group_id, parent_id) AS (
        SELECT id, group_id, parent_id FROM profiles_department
        UNION
        SELECT above.department_id, upper.group_id, upper.parent_id
        FROM above JOIN profiles_department upper ON upper.id = above.parent_id
    ), due (user_id, group_id) AS (
        SELECT person.user_id, above.group_id
        FROM profiles_userprofile person JOIN above ON above.department_id = person.department_id
    )
"""
_LEAVE = f"""{_DUE}
    DELETE FROM auth_user_groups member USING profiles_department owner
    WHERE owner.group_id = member.group_id AND (%(user)s::int IS NULL OR member.user_id = %(user)s)
    AND NOT EXISTS (SELECT 1 FROM due WHERE due.user_id = member.user_id AND due.group_id = member.group_id)
"""  # noqa: S608  # constants alone, here and below
_JOIN = f"""{_DUE}
    INSERT INTO auth_user_groups (user_id, group_id)
    SELECT user_id, group_id FROM due WHERE %(user)s::int IS NULL OR user_id = %(user)s
    ON CONFLICT DO NOTHING
"""  # noqa: S608


def refresh_membership(user_id: int | None = None) -> None:
    """Puts one person, or everybody, into the groups of their department and those above it, and out of others.

    Groups that belong to no department are left alone.
    """
    with connection.cursor() as cursor:
        for statement in (_LEAVE, _JOIN):
            cursor.execute(statement, {"user": user_id})
