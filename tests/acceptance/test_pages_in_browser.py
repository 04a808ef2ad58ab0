"""Pages in a browser: nothing runs, nothing is refused, nothing is wider than a telephone. Needs Chromium."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from oraclerag.pages.evaluation import page
from tests.unit.evaluation_samples import comparison, evaluation, rate

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--hide-scrollbars",
         "--enable-logging=stderr", "--v=0"]  # fmt: skip
RUNS = "<script>parent.ran.push('script')</script><img src=x onerror=\"parent.ran.push('image')\">"
HOSTILE = f"{RUNS}\"'></title></style></svg>{RUNS}\x1b\u202e {'x' * 200}"
PHONE = 360

# looks at every page of PHONE units width: how wide it is, and which words of a picture leave it
MEASURE = """
const found = {};
for (const frame of document.querySelectorAll('iframe')) {
  const page = frame.contentDocument, root = page.documentElement;
  const outside = [...page.querySelectorAll('svg text')].filter(text => {
    const box = text.getBBox(), room = text.ownerSVGElement.viewBox.baseVal;
    return box.x < -1 || box.y < -1 || box.x + box.width > room.width + 1 || box.y + box.height > room.height + 1;
  });
  found[frame.id] = {
    width: root.scrollWidth, sections: page.querySelectorAll('section').length, title: page.title,
    outside: outside.map(text => text.textContent), ground: frame.contentWindow.getComputedStyle(page.body).backgroundColor,
  };
}
console.log('measured');
document.getElementById('found').textContent = JSON.stringify({pages: found, ran});
"""


@pytest.fixture(scope="module")
def chromium() -> str:
    """Find a browser that starts; a package that only tells how to get one does not."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found and subprocess.run([found, "--version"], capture_output=True, timeout=60, check=False).returncode == 0:
            return found
    pytest.skip("There is no Chromium on the PATH.")


def test_pages_are_safe_and_fit_a_telephone(chromium: str, tmp_path: Path) -> None:
    hostile = page(evaluation(12, text=HOSTILE), rate())
    pages = {
        "evaluation": hostile,
        "comparison": page(comparison(12, text=HOSTILE, name_b=HOSTILE)),
        "one": page(evaluation(1), rate(1)),
        "rate": page(None, rate(120)),
        # were a text not escaped, the policy would still refuse it: this one page says so in the console
        "unescaped": hostile.replace("<main>", "<main><script>parent.ran.push('unescaped')</script>"),
    }
    found, said = looked_at(chromium, tmp_path, pages)
    assert found["ran"] == []
    assert {name: (one["width"], one["outside"]) for name, one in found["pages"].items()} == {
        name: (PHONE, []) for name in pages
    }
    assert found["pages"]["evaluation"]["title"] == "Evaluation of questions.jsonl"
    assert found["pages"]["comparison"]["sections"] == 6
    assert {one["ground"] for one in found["pages"].values()} == {"rgb(255, 255, 255)"}, "the style is let in"
    [refused, measured] = said
    assert "Content Security Policy" in refused
    assert "script" in refused
    assert "measured" in measured


def looked_at(chromium: str, folder: Path, pages: dict[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Open pages in frames of one; give what was measured, and the lines of the console."""
    frames = "".join(
        f'<iframe id="{name}" width="{PHONE}" height="800" frameborder="0" srcdoc="{html.escape(text)}"></iframe>'
        for name, text in pages.items()
    )
    file = folder / "frames.html"
    file.write_text(
        '<!DOCTYPE html><meta charset="utf-8"><script>const ran = [];</script>'
        f'{frames}<pre id="found"></pre><script>addEventListener("load", () => {{ {MEASURE} }});</script>',
        "utf-8",
    )
    run = subprocess.run(
        [chromium, *FLAGS, f"--user-data-dir={folder / 'profile'}", "--dump-dom", file.as_uri()],
        capture_output=True, timeout=60, check=True, encoding="utf-8", errors="replace",
    )  # fmt: skip
    [told] = re.findall(r'<pre id="found">([^<]*)</pre><script>', run.stdout)
    found: dict[str, Any] = json.loads(html.unescape(told))
    return found, [line for line in run.stderr.splitlines() if "CONSOLE" in line]
