"""How static files are named in production."""

from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ManifestStorage(CompressedManifestStaticFilesStorage):
    """Names with a hash of the content, in the imports of ES modules too, so that browsers may keep them for ever."""

    support_js_module_import_aggregation = True

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._addresses: dict[str, str] = {}

    def url(self, name: str, force: bool = False) -> str:
        """The address of a file. A page names its icons some hundred times, and they move with no process."""
        if name not in self._addresses or force:
            self._addresses[name] = super().url(name, force)
        return self._addresses[name]
