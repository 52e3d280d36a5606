"""Writes beside an artefact the CycloneDX list of its contents, without what differs between two runs.

contents.py LIST ARTEFACT [BINARY]: the list is that of cargo-cyclonedx. All of it that is in the binary, a file inside of the
artefact, must be readable there too.
"""

import hashlib
import json
import os
import struct
import sys
import zlib
from datetime import datetime, timezone
from pathlib import Path


def section(binary: bytes, name: bytes) -> bytes:
    """A section of a program or a library, by its name: of an ELF file of 64 bits, or of one for Windows."""
    if binary[:4] == b"\x7fELF":
        (headers,) = struct.unpack_from("<Q", binary, 0x28)
        size, count, names = struct.unpack_from("<HHH", binary, 0x3A)
        at = [headers + index * size for index in range(count)]
        starts = [struct.unpack_from("<QQ", binary, header + 0x18) for header in at]
        for header, (start, length) in zip(at, starts):
            begin = starts[names][0] + struct.unpack_from("<I", binary, header)[0]
            if binary[begin : binary.index(b"\0", begin)] == name:
                return binary[start : start + length]
    else:
        (start,) = struct.unpack_from("<I", binary, 0x3C)
        (count,) = struct.unpack_from("<H", binary, start + 6)
        (optional,) = struct.unpack_from("<H", binary, start + 20)
        for header in range(start + 24 + optional, start + 24 + optional + 40 * count, 40):
            if binary[header : header + 8].rstrip(b"\0") == name:
                length, _, _, begin = struct.unpack_from("<IIII", binary, header + 8)
                return binary[begin : begin + length]
    sys.exit(f"there is no section {name.decode()}: the program was built without cargo-auditable")


def embedded(binary: bytes) -> set[tuple[str, str]]:
    """The packages that cargo-auditable has written into a binary."""
    audit = json.loads(zlib.decompressobj().decompress(section(binary, b".dep-v0")))
    return {(each["name"], each["version"]) for each in audit["packages"]}


source, artefact = Path(sys.argv[1]), Path(sys.argv[2])
root = Path.cwd().resolve()
contents = json.loads(source.read_text().replace(root.as_uri(), "file:///guira").replace(str(root), "/guira"))
contents.pop("serialNumber", None)
metadata = contents["metadata"]
epoch = int(os.environ["SOURCE_DATE_EPOCH"])
metadata["timestamp"] = datetime.fromtimestamp(epoch, timezone.utc).isoformat()
digest = hashlib.sha256(artefact.read_bytes()).hexdigest()
metadata["properties"] = [
    {"name": "guira:artefact", "value": artefact.name},
    {"name": "guira:artefact:sha256", "value": digest},
]
if len(sys.argv) > 3:
    parts = [each for each in [*contents["components"], metadata["component"]] if each.get("scope") != "excluded"]
    listed = {(each["name"], each["version"]) for each in parts}
    # More than these, since it has what other members of the workspace ask of the same dependencies.
    found = embedded(Path(sys.argv[3]).read_bytes())
    if missing := listed - found:
        sys.exit(f"{artefact.name}: not readable from the binary: {sorted(missing)}")
    print(f"{artefact.name}: {len(listed)} packages are listed, and readable from the binary")
target = artefact.with_name(artefact.name + ".cdx.json")
target.write_text(json.dumps(contents, indent=1, sort_keys=True) + "\n")
