"""Copies a CycloneDX list of contents without what differs between two runs: contents.py FROM TO."""

import json
import os
import sys
from pathlib import Path

source, destination = map(Path, sys.argv[1:])
root = Path.cwd().resolve()
text = source.read_text().replace(root.as_uri(), "file:///guira").replace(str(root), "/guira")
contents = json.loads(text)
contents.pop("serialNumber", None)
epoch = int(os.environ["SOURCE_DATE_EPOCH"])
if "timestamp" in contents.get("metadata", {}):
    from datetime import datetime, timezone

    contents["metadata"]["timestamp"] = datetime.fromtimestamp(epoch, timezone.utc).isoformat()
destination.write_text(json.dumps(contents, indent=1, sort_keys=True) + "\n")
