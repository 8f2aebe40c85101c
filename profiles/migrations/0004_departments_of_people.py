"""The department that was a text on each profile becomes a row, with a group and its members."""

from django.db import migrations


def forwards(apps, schema_editor):
    profile, department = apps.get_model("profiles", "UserProfile"), apps.get_model("profiles", "Department")
    group = apps.get_model("auth", "Group")
    taken = set(group.objects.values_list("name", flat=True))
    by_name = {}
    for person in profile.objects.exclude(department_name="").order_by("pk"):
        name = " ".join(person.department_name.split())
        if not name:
            continue
        if name not in by_name:
            # A group that is there already is never taken over: it may carry powers that were not meant for everybody.
            free = next(n for n in (name, *(f"{name} ({k})" for k in range(2, len(taken) + 3))) if n not in taken)
            taken.add(free)
            by_name[name] = department.objects.create(name=name, group=group.objects.create(name=free))
        person.department = by_name[name]
        person.save(update_fields=["department"])
        person.user.groups.add(person.department.group)


def backwards(apps, schema_editor):
    profile, department = apps.get_model("profiles", "UserProfile"), apps.get_model("profiles", "Department")
    for person in profile.objects.exclude(department=None).select_related("department"):
        person.department_name = person.department.name
        person.department = None
        person.save(update_fields=["department", "department_name"])
    groups = list(department.objects.values_list("group", flat=True))
    department.objects.update(parent=None)
    department.objects.all().delete()
    apps.get_model("auth", "Group").objects.filter(pk__in=groups).delete()


class Migration(migrations.Migration):
    dependencies = [("profiles", "0003_departments")]

    operations = [migrations.RunPython(forwards, backwards)]
