"""Which pages get which Content-Security-Policy: the strict one everywhere, the admin's own under /admin/."""

from dataclasses import asdict

from csp.constants import HEADER, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.http import HttpRequest, HttpResponseBase

# The admin's skin runs on Alpine, which evaluates the expressions in its attributes and writes style attributes.
# Inline scripts and style elements stay forbidden there too, so an injected tag would do nothing.
ADMIN_POLICY = {
    "script-src": [SELF, UNSAFE_EVAL],
    "style-src": [SELF],
    "style-src-attr": [UNSAFE_INLINE],
}


class PolicyMiddleware(CSPMiddleware):
    """Adds the policy of `CONTENT_SECURITY_POLICY`, with the directives of `ADMIN_POLICY` for the admin."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if request.path.startswith("/admin/"):
            response._csp_replace = ADMIN_POLICY  # type: ignore[attr-defined]  # django-csp's own protocol
        if response.status_code == 404:
            # django-csp leaves 404 out while DEBUG is on, for the sake of Django's own page; ours is shown instead.
            parts = self.get_policy_parts(request=request, response=response)
            response[HEADER] = build_policy(**asdict(parts))
        return super().process_response(request, response)
