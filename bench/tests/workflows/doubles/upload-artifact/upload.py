"""What actions/upload-artifact accepts and refuses.

Names: https://github.com/actions/toolkit/blob/main/packages/artifact/src/internal/upload/path-and-artifact-name-validation.ts;
each name once a run, and no hidden files: https://github.com/actions/upload-artifact#readme.
"""

import os
import sys
import zipfile
from pathlib import Path

IN_NO_PATH = set('":<>|*?\r\n')
name, folder = os.environ["NAME"], Path(os.environ["FOLDER"])
if not name or set(name) & (IN_NO_PATH | set("\\/")):
    sys.exit(f"the artifact name is not valid: {name!r}")
files = [path for path in sorted(folder.rglob("*")) if path.is_file()] if folder.is_dir() else []
files = [path for path in files if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
if not files:
    print(f"no files were found with the path {folder}; no artifact is uploaded")
    sys.exit(1 if os.environ["MISSING"] == "error" else 0)
for path in files:
    if set(str(path.relative_to(folder))) & IN_NO_PATH:
        sys.exit(f"the path for one of the files in artifact is not valid: {path}")
target = Path(os.environ["DOUBLES"]) / "artifacts" / f"{name}.zip"
if target.exists() and os.environ["OVERWRITE"] != "true":
    sys.exit("409 Conflict: an artifact with this name already exists on the workflow run")
target.parent.mkdir(parents=True, exist_ok=True)
with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
    for path in files:
        archive.write(path, path.relative_to(folder))
