"""Puts the documents, and what they link to, into a folder for the generator: stage.py REPOSITORY FOLDER.

Documents lie there as they do in the repository, so that their links hold. A source file is a page with its text, and a folder
without a README.md is a page with a list. A link to what the repository does not have is an error.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

LINK = re.compile(r"(\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^ *(```|~~~)")
ITEM = re.compile(r"^( *)([-*]|\d+\.) +(?=\S)")
# Served as they are.
PLAIN = {".csv", ".html", ".json", ".png", ".svg"}
LANGUAGES = {".py": "python", ".rs": "rust", ".toml": "toml", ".yml": "yaml"}


class Stage:
    def __init__(self, repository, folder):
        self.repository, self.folder = repository, folder
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=repository, check=True, capture_output=True, text=True).stdout
        self.files = {PurePosixPath(name) for name in listed.split("\0") if name and (repository / name).exists()}
        self.folders = {parent for file in self.files for parent in file.parents}
        self.done, self.dead = set(), []

    def put(self, target, text):
        path = self.folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def page(self, target, title, body):
        # Not what one searches documents for.
        self.put(target, f"---\nsearch:\n  exclude: true\n---\n\n# {title}\n\n{body}")

    def add(self, path):
        """Stages a file or folder, and returns the name under which it is a page or a file there."""
        is_folder = path in self.folders
        if is_folder and path / "README.md" in self.files:
            return self.add(path / "README.md")
        plain = path.suffix in PLAIN or path.suffix == ".md"
        target = path / "README.md" if is_folder else path if plain else path.with_name(path.name + ".md")
        if path in self.done:
            return target
        self.done.add(path)
        if is_folder:
            entries = sorted(file for file in self.files if file.parent == path)
            lines = [f"- [{entry.name}]({self.add(entry).relative_to(path)})\n" for entry in entries]
            self.page(target, f"{path}/", "".join(lines))
        elif path.suffix == ".md":
            self.put(target, self.rewritten(path, (self.repository / path).read_text()))
        elif path.suffix in PLAIN:
            (self.folder / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.repository / path, self.folder / target)
        else:
            text = (self.repository / path).read_text().rstrip("\n")
            fence = "`" * (3 + max((len(run) for run in re.findall("`+", text)), default=0))
            self.page(target, str(path), f"{fence}{LANGUAGES.get(path.suffix, 'text')}\n{text}\n{fence}\n")
        return target

    def rewritten(self, document, text):
        """The document with links to the staged names, and in the dialect of the generator."""
        lines, fence, lists = [], None, Lists()
        for line in text.splitlines():
            mark = FENCE.match(line)
            indented, apart = lists.indented(line, fence is not None)
            if apart and lines and lines[-1].strip():
                lines.append("")
            if mark and fence is None:
                fence = mark[1]
            elif mark and fence == mark[1]:
                fence = None
            elif fence is None:
                indented = self.linked(document, indented)
                # The generator reads Markdown within HTML only where it is told to.
                indented = re.sub(r"<(table|tr)\b", r'<\1 markdown="1"', indented)
                indented = re.sub(r"<td>$", '<td markdown="block">', indented)
            lines.append(indented)
        return "\n".join(lines) + "\n"

    def linked(self, document, line):
        def replaced(match):
            target, _, anchor = match[2].partition("#")
            if not target or "://" in target:
                return match[0]
            path = normal(document.parent / target)
            if path not in self.files and path not in self.folders:
                self.dead.append(f"{document}: nothing at {match[2]}")
                return match[0]
            up = "../" * len(document.parent.parts)
            return f"{match[1]}{up}{self.add(path)}{'#' + anchor if anchor else ''}{match[3]}"

        # Not what is code within the line.
        parts = re.split(r"(`[^`]*`)", line)
        return "".join(LINK.sub(replaced, part) if number % 2 == 0 else part for number, part in enumerate(parts))


class Lists:
    """The lists that a line is in. For the generator, what is within an item of a list is indented by four spaces, whatever
    the width of its mark, and an item after a paragraph comes after an empty line."""

    def __init__(self):
        self.widths, self.after_blank, self.in_paragraph = [], False, True

    def indented(self, line, is_code):
        """The line as the generator wants it, and whether it wants an empty line before it."""
        indent = len(line) - len(line.lstrip(" "))
        item = None if is_code else ITEM.match(line)
        if not line.strip():
            self.after_blank = True
            return line, False
        if self.after_blank and not item:
            # Also one within an item, after its first.
            self.in_paragraph = True
        if item or (self.after_blank and not is_code):
            while self.widths and indent < self.widths[-1]:
                self.widths.pop()
        self.after_blank = False
        # What begins further left goes on with the paragraph before.
        within = sum(self.widths[-1:])
        changed = " " * (4 * len(self.widths) + indent - within) + line.lstrip(" ") if indent >= within else line
        if item and indent - within < 4:
            self.widths.append(item.end())
            after_paragraph, self.in_paragraph = self.in_paragraph, False
            return changed, after_paragraph
        return changed, False


def normal(path):
    parts = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return PurePosixPath(*parts)


def main():
    repository, folder = map(Path, sys.argv[1:])
    stage = Stage(repository, folder)
    for file in sorted(stage.files):
        if file.suffix == ".md" and (len(file.parts) == 1 or file.parts[0] == "docs"):
            stage.add(file)
        # Pictures stand in HTML too.
        elif file.is_relative_to("docs/figures"):
            stage.add(file)
    for dead in stage.dead:
        print(dead, file=sys.stderr)
    sys.exit(bool(stage.dead))


if __name__ == "__main__":
    main()
