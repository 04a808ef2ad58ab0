"""What MkDocs is told beside mkdocs.yml: pages made from the code, links that leave the folder, what may be loaded."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File
from reference import pages  # of this folder

_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]*\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the reference."""
    for name, content in pages().items():
        files.append(File.generated(config, f"reference/{name}.md", content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Name what lies outside this folder, where the site has no link to it."""
    return _OUTSIDE.sub(lambda found: found[1] if found[1].startswith("`") else f"`{found[1]}`", markdown)


def on_post_build(config: Any) -> None:
    """End the build where a page would load something from another host."""
    site = Path(config.site_dir)
    for path in sorted(site.rglob("*.html")):
        if loaded := sorted(set(_loaded(path.read_text("utf-8")))):
            raise PluginError(f"{path.relative_to(site)} loads from elsewhere: {', '.join(loaded)}")
    for path in sorted(site.rglob("*.css")):
        if found := re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^)\"']+)", path.read_text("utf-8")):
            raise PluginError(f"{path.relative_to(site)} loads from elsewhere: {', '.join(found)}")


class _Loads(HTMLParser):
    """Collects what a page loads by itself; a link that a person follows is none of it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what is loaded."""
        given = dict(attrs)
        loads = tag != "link" or given.get("rel") not in ("canonical", "next", "prev")
        names = ("href",) if tag == "link" else () if tag == "a" else ("src", "srcset", "data", "poster")
        for name in names:
            target = given.get(name) or ""
            if loads and re.match(r"(?:https?:)?//", target):
                self.found.append(target)


def _loaded(text: str) -> list[str]:
    parser = _Loads()
    parser.feed(text)
    return parser.found
