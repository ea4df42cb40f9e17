"""Archives of images: whatever they contain, the written archive has only our name, or there is an error message."""

from __future__ import annotations

import json
import tarfile
import tempfile
from pathlib import Path

from pushbench.ci.archive import rewrite
from tests.ci.archives import LATEST, OWN, buildx, tar
from tests.fuzz.target import Target


def _read(raw: bytes) -> bool:
    """Rewrite the archive. Raise AssertionError if a hostile one gets through."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "alpha.tar", Path(folder) / "written.tar"
        source.write_bytes(raw)
        rewrite(source, target, OWN, [LATEST])
        with tarfile.open(target, "r:") as opened:
            names = opened.getnames()
            file = opened.extractfile("manifest.json")
            assert file
            [manifest] = json.loads(file.read())
        assert len(set(names)) == len(names)
        assert manifest["RepoTags"] == [OWN]
        assert {"manifest.json", manifest["Config"], *manifest["Layers"]} == set(names)
        return True


TARGET = Target("archives", [tar(buildx()), tar(buildx("only", packed=False))], _read)
