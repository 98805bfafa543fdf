"""An image registry of one image on 127.0.0.1, which a Docker daemon takes without TLS."""

import gzip
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
_CONFIG = "application/vnd.docker.container.image.v1+json"
_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"


@dataclass(frozen=True)
class Published:
    """What the registry serves: ``host:port/team/toy:1``, its manifest's digest, what was asked."""

    reference: str
    digest: str
    requests: list[str]


@contextmanager
def registry(files: Mapping[str, bytes], architecture: str = "amd64") -> Iterator[Published]:
    """Serves an image of these files, and notes what is asked of it."""
    blobs, manifest = _image(files, architecture)
    digest = _digest(manifest)
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append(self.path)
            part = self.path.rpartition("/")[2]
            if self.path == "/v2/":
                self._answer(b"{}", "application/json")
            elif "/manifests/" in self.path and part in {"1", digest}:
                self._answer(manifest, _MANIFEST)
            elif part in blobs:
                self._answer(blobs[part], "application/octet-stream")
            else:
                self.send_error(404)

        do_HEAD = do_GET  # noqa: N815  http.server's own naming

        def _answer(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Docker-Content-Digest", _digest(body))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the parent's name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield Published(f"127.0.0.1:{server.server_port}/team/toy:1", digest, asked)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _image(files: Mapping[str, bytes], architecture: str) -> tuple[dict[str, bytes], bytes]:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    layer = gzip.compress(buffer.getvalue(), mtime=0)
    config = json.dumps(
        {
            "architecture": architecture,
            "os": "linux",
            "config": {},
            "rootfs": {"type": "layers", "diff_ids": [_digest(buffer.getvalue())]},
        }
    ).encode()
    manifest = json.dumps(
        {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": {"mediaType": _CONFIG, "size": len(config), "digest": _digest(config)},
            "layers": [{"mediaType": _LAYER, "size": len(layer), "digest": _digest(layer)}],
        }
    ).encode()
    return {_digest(config): config, _digest(layer): layer}, manifest


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
