"""`python locale/refresh.py`: collects the texts of code and templates and compiles the translations.

Collecting needs the gettext programs; without them only the compiling is done. The product needs neither.
"""

import os
import shutil
import sys
from pathlib import Path

import polib

ROOT = Path(__file__).resolve().parent.parent
LANGUAGE = "zh_Hans"
CATALOGUE = Path("locale", LANGUAGE, "LC_MESSAGES", "django.po")
IGNORED = [".venv", ".tacit", "staticfiles", "tests", "bench"]


def collect(root: Path) -> Path:
    """Brings the catalogue of the checkout at `root` up to date with its texts; returns where it is."""
    from django.core.management import call_command

    os.chdir(root)
    options = {"ignore_patterns": IGNORED, "no_obsolete": True, "no_wrap": True, "add_location": "file"}
    call_command("makemessages", locale=[LANGUAGE], verbosity=0, **options)
    return root / CATALOGUE


def compile_catalogue(catalogue: Path) -> None:
    """Writes `catalogue` in a settled order, and the django.mo beside it."""
    entries = polib.pofile(str(catalogue), wrapwidth=110)
    entries.metadata = {
        "Language": LANGUAGE,
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "MIME-Version": "1.0",
        "Plural-Forms": "nplurals=1; plural=0;",
    }
    entries.metadata_is_fuzzy = False
    entries.header = "Texts of Tacit in simplified Chinese."
    entries.sort(key=lambda entry: (entry.msgctxt or "", entry.msgid))
    entries.save(str(catalogue))
    entries.save_as_mofile(str(catalogue.with_suffix(".mo")))


def main() -> None:
    """Refreshes the one catalogue there is."""
    sys.path.insert(0, str(ROOT))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("DEBUG", "1")
    import django

    django.setup()
    if shutil.which("xgettext"):
        collect(ROOT)
    compile_catalogue(ROOT / CATALOGUE)


if __name__ == "__main__":
    main()
