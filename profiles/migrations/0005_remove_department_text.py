from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("profiles", "0004_departments_of_people"),
    ]

    operations = [
        migrations.RemoveField(
            model_name="userprofile",
            name="department_name",
        ),
    ]
