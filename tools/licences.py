"""Prints the licences of all that the published artefacts are made of: each package with its licence, and each text once."""

import json
import subprocess
from pathlib import Path

OURS = ["guira", "guira-cli", "guira-files", "guira-redis", "guira-python"]

command = ["cargo", "metadata", "--format-version", "1", "--locked"]
metadata = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
packages = {package["id"]: package for package in metadata["packages"]}
nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
to_do = [package["id"] for package in metadata["packages"] if package["name"] in OURS and package["source"] is None]
found = set()
while to_do:
    node = to_do.pop()
    if node not in found:
        found.add(node)
        used = nodes[node]["deps"]
        to_do += [each["pkg"] for each in used if any(kind["kind"] != "dev" for kind in each["dep_kinds"])]

texts = {}
for package in sorted((packages[id] for id in found), key=lambda package: (package["name"], package["version"])):
    print(f"{package['name']} {package['version']}: {package['license'] or 'see its files'}")
    folder = Path(package["manifest_path"]).parent
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.name.upper().startswith(("LICEN", "COPYING", "NOTICE", "UNLICENSE")):
            text = file.read_text(errors="replace").strip()
            texts.setdefault(text, []).append(f"{package['name']} {package['version']}")
for text, users in texts.items():
    print("\n" + "=" * 80 + "\n" + ", ".join(users) + ":\n\n" + text)
