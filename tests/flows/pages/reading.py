"""Reading pages in tests."""

import json
import re
from typing import Any


def page_data(html: str) -> dict[str, Any]:
    found = re.search(r'<script id="page" type="application/json">(.*?)</script>', html)
    assert found
    return json.loads(found[1])


def shown_questions(html: str) -> list[str]:
    """The questions in the log; the last one is the blank of the template."""
    return re.findall(r"<p data-input>(.*?)</p>", html, re.DOTALL)[:-1]
