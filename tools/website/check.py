"""Compares pages with the documents that they are made of: check.py REPOSITORY PAGES.

The generator reads another dialect of Markdown than code hosts do. A page must have as many tables, rows, items, blocks of
code, headings, emphases and pictures as the document has by the rules of code hosts.
"""

import re
import subprocess
import sys
from pathlib import Path

from markdown_it import MarkdownIt

TAGS = ["table", "tr", "td", "li", "pre", "h1", "h2", "h3", "strong", "img"]


def counts(html):
    return {tag: len(re.findall(rf"<{tag}[ >]", html)) for tag in TAGS}


def main():
    repository, pages = map(Path, sys.argv[1:])
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=repository, check=True, capture_output=True, text=True).stdout
    markdown = MarkdownIt("gfm-like", {"html": True, "linkify": False})
    compared, wrong = 0, 0
    for name in map(Path, listed.splitlines()):
        page = pages / (name.parent if name.name == "README.md" else name.with_suffix("")) / "index.html"
        if not page.exists() or not (repository / name).exists():
            continue
        html = page.read_text()
        article = html[html.index("<article") : html.index("</article>")]
        expected, found = counts(markdown.render((repository / name).read_text())), counts(article)
        for tag in TAGS:
            if expected[tag] != found[tag]:
                print(f"{name}: {expected[tag]} <{tag}> on code hosts, {found[tag]} on the page", file=sys.stderr)
                wrong += 1
        compared += 1
    if compared < 20:
        sys.exit(f"only {compared} pages are there")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
