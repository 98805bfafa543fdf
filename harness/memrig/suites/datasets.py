"""Public datasets: pinned by URL, size and sha256, fetched into the user's data folder."""

import http.client
import os
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_data_path

from memrig.errors import PrerequisiteError, UsageError
from memrig.model.canonical import digest_file
from memrig.suites.fields import check_is_file

_BLOCK = 1 << 16
_TIMEOUT_S = 30
_LONGMEMEVAL = (
    "https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned/resolve/"
    "98d7416c24c778c2fee6e6f3006e7a073259d48f"
)


@dataclass(frozen=True, slots=True)
class Dataset:
    """One pinned file. `size` in bytes."""

    name: str
    file_name: str
    url: str
    sha256: str
    size: int
    licence: str


def _longmemeval(variant: str, file_name: str, size: int, sha256: str) -> Dataset:
    url = f"{_LONGMEMEVAL}/{file_name}"
    return Dataset(f"longmemeval-{variant}", file_name, url, sha256, size, "MIT")


DATASETS = {
    "locomo": Dataset(
        name="locomo",
        file_name="locomo10.json",
        url="https://raw.githubusercontent.com/snap-research/locomo/"
        "3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376/data/locomo10.json",
        sha256="79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",
        size=2_805_274,
        licence="CC BY-NC 4.0",
    ),
    "longmemeval-oracle": _longmemeval(
        "oracle",
        "longmemeval_oracle.json",
        15_388_478,
        "821a2034d219ab45846873dd14c14f12cfe7776e73527a483f9dac095d38620c",
    ),
    "longmemeval-s": _longmemeval(
        "s",
        "longmemeval_s_cleaned.json",
        277_383_467,
        "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442",
    ),
    "longmemeval-m": _longmemeval(
        "m",
        "longmemeval_m_cleaned.json",
        2_737_100_077,
        "9d79e5524794a2e6900a3aa9cb7d9152c5a3e8319c9a87c25494ba1eacee495f",
    ),
}

#: Told of bytes on disk and bytes in all.
OnProgress = Callable[[int, int], None]


def dataset(name: str) -> Dataset:
    """The pinned dataset of this name.

    Raises:
        UsageError: there is none.
    """
    if name not in DATASETS:
        known = ", ".join(sorted(DATASETS))
        raise UsageError(
            f"there is no dataset {name!r}", where=f"memrig data: {name}", fix=f"one of: {known}"
        )
    return DATASETS[name]


def data_folder() -> Path:
    """Where fetched datasets live; set XDG_DATA_HOME to move it."""
    return user_data_path("memrig") / "datasets"


def path_of(item: Dataset) -> Path:
    """Where this dataset is, or would be."""
    return data_folder() / item.file_name


def locate(name: str, where: str = "") -> Path:
    """The path of a dataset that was fetched.

    Args:
        name: the dataset's.
        where: the flags that ask for it, where they are not ``--suite NAME``.

    Raises:
        PrerequisiteError: it was not.
    """
    item = dataset(name)
    path = path_of(item)
    if not path.is_file():
        raise PrerequisiteError(
            f"the dataset is not on this machine ({path} is missing)",
            where=where or f"--suite {name}",
            fix=f"run `memrig data fetch {name}`, or give your copy with --file {item.file_name}",
        )
    return path


def fetch(name: str, on_progress: OnProgress = lambda _done, _total: None) -> Path:
    """Downloads a dataset, continuing where an earlier try stopped, and checks its sha256.

    Raises:
        PrerequisiteError: the host cannot be reached, or what it sent is not the pinned file.
    """
    item = dataset(name)
    path = path_of(item)
    if path.is_file() and digest_file(path) == f"sha256:{item.sha256}":
        on_progress(item.size, item.size)
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(path.suffix + ".part")
    try:
        _download(item, partial, on_progress)
    except (OSError, http.client.HTTPException) as error:
        raise PrerequisiteError(
            f"cannot be downloaded from {item.url}: {error}",
            where=f"data fetch {name}",
            fix=f"repeat the command to resume, or give your own copy with --file {item.file_name}",
        ) from error
    _check(item, partial)
    partial.replace(path)
    return path


def _download(item: Dataset, partial: Path, on_progress: OnProgress) -> None:
    have = partial.stat().st_size if partial.exists() else 0
    if have >= item.size:
        return
    request = urllib.request.Request(item.url, headers={"Range": f"bytes={have}-"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as response:  # noqa: S310
        resumed = response.status == http.HTTPStatus.PARTIAL_CONTENT
        done = have if resumed else 0
        with partial.open("ab" if resumed else "wb") as file:
            while block := response.read(_BLOCK):
                file.write(block)
                done += len(block)
                on_progress(done, item.size)
    if done < item.size:
        raise OSError(f"the connection ended after {done} of {item.size} bytes")


def _check(item: Dataset, partial: Path) -> None:
    actual = digest_file(partial)
    if actual != f"sha256:{item.sha256}":
        partial.unlink()
        raise PrerequisiteError(
            f"the download has {actual}, expected sha256:{item.sha256}",
            where=f"data fetch {item.name}",
            fix="fetch again; if it differs again, the upstream file has changed",
        )


def adopt(name: str, file: Path) -> Path:
    """Copies a file the user already has into the data folder, if it is the pinned one.

    Raises:
        UsageError: there is no such dataset.
        DataError: there is no such file.
        PrerequisiteError: it is another one.
    """
    item = dataset(name)
    check_is_file(file, str(file))
    actual = digest_file(file)
    if actual != f"sha256:{item.sha256}":
        message = f"has {actual}, the pinned file has sha256:{item.sha256}"
        raise PrerequisiteError(message, where=str(file), fix="use it with --file instead")
    path = path_of(item)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        shutil.copyfile(file, aside)
        aside.replace(path)  # in one step: half a copy would pass for the dataset
    finally:
        aside.unlink(missing_ok=True)
    return path
