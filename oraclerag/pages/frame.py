"""What every page shares: its look, how text gets into it, and the policy that lets its own style alone in.

Text from data is escaped and its control characters become visible; were that to fail, the content security policy
would still forbid scripts, forms and whatever is loaded.
"""

from __future__ import annotations

import base64
import hashlib
import html

from oraclerag.console import visible

__all__ = ["BASE", "Markup", "policy", "safe"]

BASE = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1b1f24; --muted: #59636e; --line: #cfd6dd; --faint: #f2f4f6;
  --blue: #2563a8; --orange: #a94c08; --grey: #626c77; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171a; --ink: #e6e9ec; --muted: #a5aeb8; --line: #424b55; --faint: #1e2328;
    --blue: #7ab5f0; --orange: #f0a45d; --grey: #a0a9b4; }
}
@media print {
  :root { color-scheme: light; --paper: #ffffff; --ink: #000000; --muted: #444b52; --line: #b5bcc4; --faint: #f2f4f6;
    --blue: #2563a8; --orange: #a94c08; --grey: #626c77; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 90rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); }
h1 { font-size: 1.3rem; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 0 0 .5rem; }
p { margin: 0 0 1rem; }
"""
"""The first rules of every page: light, dark and printed colours, the body and its headings."""


class Markup(str):
    """What is markup already and no text: a template takes it as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        """Give it as it stands in a page."""
        return str(self)


def policy(style: str) -> str:
    """Give the content security policy of a page whose one ``<style>`` element holds exactly ``style``."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{digest}'"


def safe(text: str, *, lines: bool = False) -> str:
    """Escape for HTML, in attributes too; control characters become visible. With ``lines`` newlines and tabs stay."""
    if lines:
        return "\t".join(html.escape(visible(part, lines=True)) for part in text.split("\t"))
    return html.escape(visible(text))
