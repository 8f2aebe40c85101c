"""How static files are named in production."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ManifestStorage(CompressedManifestStaticFilesStorage):
    """Names with a hash of the content, in the imports of ES modules too, so that browsers may keep them for ever."""

    support_js_module_import_aggregation = True
