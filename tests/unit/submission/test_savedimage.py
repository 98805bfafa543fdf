"""What `docker save` wrote: told by hashes, whatever its names say."""

import hashlib
import json
import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from memrig.model.canonical import digest_bytes
from memrig.submission.archive import read_archive, write_archive
from memrig.submission.model import ImageEntry
from memrig.submission.savedimage import saved_images
from support.archives import DRAFT, FILES, KEY

CONFIG = b'{"architecture":"amd64","rootfs":{"diff_ids":[]}}'
ID = digest_bytes(CONFIG)
INDEXED = b'{"schemaVersion":2}'


def tar_of(path: Path, files: dict[str, bytes | str]) -> Path:
    """A tar of these files; a text is where a link points to."""
    with tarfile.open(path, "w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            if isinstance(data, str):
                member.type, member.linkname = tarfile.SYMTYPE, data
                tar.addfile(member)
            else:
                member.size = len(data)
                tar.addfile(member, BytesIO(data))
    return path


def old(name: str = "") -> dict[str, bytes | str]:
    """As Docker 20.10 writes it: the configuration is named after its hash."""
    name = name or f"{ID.removeprefix('sha256:')}.json"
    listed = json.dumps([{"Config": name, "RepoTags": None, "Layers": ["a/layer.tar"]}]).encode()
    return {"a/layer.tar": b"layer", name: CONFIG, "manifest.json": listed}


def new() -> dict[str, bytes | str]:
    """As an engine with a containerd store writes it: an OCI layout beside the old list."""
    config, manifest = (hashlib.sha256(data).hexdigest() for data in (CONFIG, INDEXED))
    index = json.dumps({"manifests": [{"digest": f"sha256:{manifest}", "size": 19}]}).encode()
    blobs = {f"blobs/sha256/{config}": CONFIG, f"blobs/sha256/{manifest}": INDEXED}
    return {**old(f"blobs/sha256/{config}"), **blobs, "index.json": index}


def test_the_image_is_the_one_that_its_configuration_hashes_to(tmp_path):
    """That is what an image's id is."""
    assert saved_images(tar_of(tmp_path / "x", old())) == {ID}


def test_a_lying_name_does_not_help(tmp_path):
    """The name in the list is not believed."""
    wanted = f"{'0' * 64}.json"
    assert saved_images(tar_of(tmp_path / "x", old(wanted))) == {ID}


def test_a_newer_layout_counts_too(tmp_path):
    """There, an image goes by its manifest or by its configuration."""
    assert saved_images(tar_of(tmp_path / "x", new())) == {ID, digest_bytes(INDEXED)}


BAD = {
    "empty": {},
    "no list": {"x.json": CONFIG},
    "a list of nothing": {"manifest.json": b"[]"},
    "no JSON": {"manifest.json": b"["},
    "deep": {"manifest.json": b"[" * 100_000},
    "not there": {"manifest.json": b'[{"Config":"x.json"}]'},
    "a link": {"manifest.json": b'[{"Config":"x.json"}]', "x.json": "/etc/hostname"},
    "a list that is a link": {"manifest.json": "/etc/hostname"},
    "no index": {**old(), "index.json": b"{"},
    "an index elsewhere": {**old(), "index.json": b'{"manifests":[{"digest":"../x"}]}'},
}


@pytest.mark.parametrize("files", BAD.values(), ids=BAD)
def test_what_is_no_saved_image_holds_none(tmp_path, files):
    """It comes from an archive, which nobody trusts."""
    assert saved_images(tar_of(tmp_path / "x", files)) == frozenset()


def test_what_is_no_tar_holds_none(tmp_path):
    """Neither text, nor a packed tar, which could be a bomb."""
    for number, data in enumerate((b"", b"hello" * 500, b"\x1f\x8b\x08" + bytes(600))):
        path = tmp_path / str(number)
        path.write_bytes(data)
        assert saved_images(path) == frozenset()


@pytest.mark.parametrize(("digest", "sound"), [(ID, True), ("sha256:" + "0" * 64, False)])
def test_an_archive_holds_the_image_that_it_names(tmp_path, digest, sound):
    """Or an organiser would run another one."""
    tar = tar_of(tmp_path / "x.tar", old())
    entry = ImageEntry(service="adapter", digest=digest, file="images/adapter.tar")
    draft = DRAFT.model_copy(update={"images": (entry,)})
    write_archive(tmp_path / "x.memrig", draft, {**FILES, "images/adapter.tar": tar}, KEY)
    with read_archive(tmp_path / "x.memrig") as opened:
        assert opened.sound is sound
        assert {finding.check for finding in opened.findings} <= {"archive.images"}
