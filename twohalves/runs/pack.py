"""A run as one zip file, to be carried away and unpacked into data/runs elsewhere.

Unpacking needs no code of ours: ``python3 -m zipfile -e RUN.zip data/runs`` on every system.
"""

from __future__ import annotations

import io
import pathlib
import zipfile

_KINDS = frozenset({".csv", ".json", ".jsonl"})
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The earliest time that the format knows: what was packed decides, not when."""
_PLAIN_FILE = 0o100644 << 16


def pack(folder: pathlib.Path) -> bytes:
    """The files of a run in a folder of its name; the same bytes for the same files.

    Args:
        folder: that of the run; other files in it, as marks of who writes there, stay.
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for path in sorted(folder.iterdir()):
            if path.suffix not in _KINDS or path.name.startswith(".") or not path.is_file():
                continue
            entry = zipfile.ZipInfo(f"{folder.name}/{path.name}", _LONG_AGO)
            entry.create_system, entry.external_attr = 3, _PLAIN_FILE  # 3 = Unix, on every system
            packed.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return out.getvalue()
