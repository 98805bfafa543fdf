"""images/cems as it is, but for the two containers that a registry has: a stand-in is beside it."""

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "images" / "cems"
NAMES = ("cems-standin", "cems-standin-server")

SERVER = """
ARG BASE
FROM ${BASE}
COPY cems_standin.py /cems_standin.py
USER 1000:1000
CMD ["python3", "/cems_standin.py", "8765", "memrig-admin"]
"""
SERVICE = """
[services.server]
build = "server"
user = "1000:1000"
resources = { cpus = 1.0, memory = "512MiB", pids = 512, tmp = "16MiB" }
health = { command = ["python3", "-c",
  "import urllib.request as r; r.urlopen('http://127.0.0.1:8765/health')"] }
"""


def standin_folder(into: Path) -> Path:
    """Writes such a folder below `into`."""
    folder = into / NAMES[0]
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("references.lock"))
    manifest = (folder / "adapter.toml").read_text()
    head, _, rest = manifest.partition("# As in CEMS' own compose file.")
    variants = "[variants." + rest.partition("[variants.")[2]
    head = "".join(line for line in head.splitlines(True) if not line.startswith("models"))
    head = head.replace('name = "cems"', f'name = "{NAMES[0]}"')
    (folder / "adapter.toml").write_text(f"{head}{SERVICE}{variants}")
    (folder / "server").mkdir()
    (folder / "server" / "Dockerfile").write_text(SERVER)
    shutil.copy(ROOT / "tests" / "support" / "cems_standin.py", folder / "server")
    return folder
