"""The few things that image building asks of the Docker daemon, with its errors made ours.

All methods block; callers run them in a thread.
"""

import json
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import docker
from docker.errors import APIError, DockerException, ImageLoadError, ImageNotFound, NotFound
from requests.exceptions import RequestException

from memrig.errors import DataError, InfrastructureError, PrerequisiteError
from memrig.pod.images.faults import MissingImageError, faults
from memrig.pod.images.types import INPUTS_LABEL, NAME_LABEL, STAGE_LABEL, tag_for
from memrig.pod.owner import PREFIX, this_process
from memrig.pod.text import plain_text

#: Importing and loading take long before they answer.
_TIMEOUT_S = 600
#: How long a registry may take to answer whether it has an image.
REGISTRY_PATIENCE_S = 10


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """An image on the daemon: id (``sha256:…``), names, labels, size, age (for sorting)."""

    digest: str
    names: tuple[str, ...]
    labels: Mapping[str, str]
    size_bytes: int
    created: str


class Engine:
    """A connection to the local daemon.

    Raises:
        PrerequisiteError: no daemon answers.
    """

    def __init__(self) -> None:
        try:
            # Any: the SDK's stubs leave half of the calls untyped; results are parsed at once.
            self._client: Any = docker.from_env(timeout=_TIMEOUT_S)
            version = self._client.version()
        except (DockerException, RequestException) as error:
            raise PrerequisiteError(
                f"no Docker daemon answers: {error}",
                fix="start Docker (`memrig doctor` tells more); `memrig run` can do without it: "
                "--pod process",
            ) from error
        #: The daemon's architecture in Go's words: ``amd64``, ``arm64``.
        self.arch: str = version["Arch"]

    def close(self) -> None:
        """Closes the connection."""
        self._client.close()

    def get(self, name: str) -> ImageFacts | None:
        """An image by id, by ``name@digest`` or by tag; None when it is not on the daemon."""
        with faults(f"image {name}"):
            try:
                return _facts(self._client.api.inspect_image(name))
            except ImageNotFound:
                return None

    def list_own(self, labels: Mapping[str, str] | None = None) -> tuple[ImageFacts, ...]:
        """The images with these labels that memrig named itself, newest first.

        Labels alone do not do: an image built on another one inherits them, and so does a
        builder stage. The name is what memrig gives to the one image that the labels speak of.
        """
        wanted = [NAME_LABEL, *(f"{key}={value}" for key, value in (labels or {}).items())]
        with faults("listing images"):
            found = self._client.api.images(quiet=True, filters={"label": wanted})
        images = [i for item in set(found) if (i := self.get(item)) and own_tag(i) in i.names]
        return tuple(sorted(images, key=lambda i: (i.created, i.digest), reverse=True))

    def tag(self, digest: str, tag: str) -> None:
        """Names an image, and makes sure that the name means this image."""
        repository, _, version = tag.rpartition(":")
        with faults(f"image {tag}"):
            self._client.api.tag(digest, repository, version, force=True)
        image = self.get(tag)
        if image is None or image.digest != digest:
            raise InfrastructureError(
                f"is {image.digest if image else 'gone'} right after it was set to {digest}",
                where=f"image {tag}",
                fix="see whether something else renames images on this daemon, then repeat",
            )

    def import_tar(self, stream: IO[bytes], tag: str, changes: Sequence[str]) -> str:
        """Makes an image of a root file system; returns its id."""
        repository, _, version = tag.rpartition(":")
        with faults(f"importing {tag}"):
            answer = self._client.api.import_image_from_stream(
                stream, repository=repository, tag=version, changes=list(changes)
            )
        last = json.loads(answer.strip().splitlines()[-1])
        if "error" in last or not str(last.get("status", "")).startswith("sha256:"):
            raise InfrastructureError(f"the daemon did not import it: {last}", where=tag)
        return str(last["status"])

    def drop_stages(self, name: str) -> None:
        """Removes builder stages of former builds of `name`, keeping the newest as a cache."""
        for stage in self.list_dangling(f"{STAGE_LABEL}={name}")[1:]:
            self.remove(stage.digest)

    def list_dangling(self, label: str) -> tuple[ImageFacts, ...]:
        """Images without a name that carry a label (``key`` or ``key=value``), newest first."""
        with faults("listing images"):
            found = self._client.api.images(quiet=True, filters={"label": label, "dangling": True})
        images = [image for item in set(found) if (image := self.get(item))]
        return tuple(sorted(images, key=lambda i: (i.created, i.digest), reverse=True))

    def remove(self, image: str) -> bool:
        """Removes an image, by id or name; False: something still uses it, or it is gone."""
        with faults(f"removing {image}"):
            try:
                self._client.api.remove_image(image)
            except APIError as error:
                if error.status_code not in {404, 409}:
                    raise
                return False
        return True

    def read_file(self, image: str, path: str, limit: int) -> bytes | None:
        """A regular file from inside an image, which is never started; None when it is not there.

        Raises:
            DataError: it is not a regular file, or longer than `limit` bytes.
        """
        # Labelled as a pod's container is, so that one left by a killed process is swept up.
        owner = this_process("image", "manifest", lease_s=600).labels()
        owner[PREFIX + "pod"] = "manifest"
        with faults(f"reading {path} from {image}"):
            box = self._client.api.create_container(
                image, command=["true"], network_disabled=True, labels=owner
            )["Id"]
            try:
                chunks, _ = self._client.api.get_archive(box, path)
                data = b"".join(_at_most(chunks, limit + 64 * 1024, f"{image}: {path}"))
            except NotFound:
                return None
            finally:
                self._client.api.remove_container(box, v=True, force=True)
        with tarfile.open(fileobj=BytesIO(data)) as tar:
            member = tar.next()
            file = tar.extractfile(member) if member and member.isreg() else None
            if file is None or member is None or member.size > limit:
                raise DataError(
                    f"must be a regular file of at most {limit} bytes", where=f"{image}: {path}"
                )
            return file.read()

    def ask_registry(self, reference: str) -> str | None:
        """The digest a registry has for `reference`; None when none answers in 10 s or has it."""
        try:
            return self._look_up(reference)
        except MissingImageError:
            return None

    def pull(self, reference: str) -> str:
        """Pulls an image; returns its id.

        Raises:
            MissingImageError: no registry answers, or it does not have the image.
        """
        digest = self._look_up(reference)
        repository = reference.partition("@")[0]
        tagged = ":" in repository.rpartition("/")[2]  # not the port of a registry
        name = repository.rpartition(":")[0] if tagged else repository
        try:
            self._client.api.pull(f"{name}@{digest}")
        except (DockerException, RequestException) as error:
            raise MissingImageError(reference, f"the pull failed: {_words(error)}") from error
        image = self.get(f"{name}@{digest}")
        if image is None:
            raise MissingImageError(reference, "the daemon pulled it, and does not have it")
        return image.digest

    def _look_up(self, reference: str) -> str:
        with faults("asking a registry"):
            client: Any = docker.from_env(timeout=REGISTRY_PATIENCE_S)
        try:
            answer = client.api.inspect_distribution(reference)
        except RequestException as error:
            reason = f"no registry answered within {REGISTRY_PATIENCE_S} s"
            raise MissingImageError(reference, reason) from error
        except DockerException as error:
            raise MissingImageError(reference, _words(error)) from error
        finally:
            client.close()
        return str(answer["Descriptor"]["digest"])

    def load(self, tar: Path) -> tuple[ImageFacts, ...]:
        """Loads the images of a `docker save` file, which may be several.

        Raises:
            DataError: the file cannot be read or is not such a file.
        """
        try:
            with tar.open("rb") as file, faults(f"loading {tar}"):
                images = self._client.images.load(file)
        except (OSError, ImageLoadError) as error:
            raise DataError(
                f"cannot be loaded: {error}", where=str(tar), fix="make it with `docker save`"
            ) from error
        ids = sorted({str(image.id) for image in images})
        return tuple(image for name in ids if (image := self.get(name)))

    def save(self, digest: str, out: Path) -> None:
        """Writes an image to a file as `docker save` does.

        Raises:
            PrerequisiteError: the daemon does not have it.
        """
        if self.get(digest) is None:  # some engines answer 500 for it when they are to save it
            raise MissingImageError(digest, "it is not on this machine")
        with faults(f"saving {digest}"), out.open("wb") as file:
            file.writelines(self._client.api.get_image(digest))


def own_tag(image: ImageFacts) -> str:
    """The name that memrig gave to an image with these labels; empty when it made none like it."""
    name, inputs = image.labels.get(NAME_LABEL), image.labels.get(INPUTS_LABEL)
    return tag_for(name, inputs) if name and inputs else ""


def _facts(raw: Mapping[str, Any]) -> ImageFacts:
    config = raw.get("Config") or {}
    return ImageFacts(
        digest=str(raw["Id"]),
        names=(*(raw.get("RepoTags") or ()), *(raw.get("RepoDigests") or ())),
        labels=dict(config.get("Labels") or {}),
        size_bytes=int(raw["Size"]),
        created=str(raw.get("Created", "")),
    )


def _at_most(chunks: Iterator[bytes], limit: int, where: str) -> Iterator[bytes]:
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > limit:
            raise DataError("is far too long for a manifest", where=where)
        yield chunk


def _words(error: Exception) -> str:
    """What the daemon, or the registry behind it, said, on one line."""
    said = error.explanation if isinstance(error, APIError) else None
    return " ".join(plain_text(str(said or error)).split())
