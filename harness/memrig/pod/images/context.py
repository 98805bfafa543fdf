"""A build context: a tar that holds the same bytes for the same content."""

import io
import tarfile
import tempfile
from pathlib import Path
from typing import IO, Self

from memrig.pod.images.inputs import list_files


class Context:
    """Collects files for a build; times and owners are fixed, modes are 644 or 755."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=32 * 1024**2)  # noqa: SIM115
        self._tar = tarfile.TarFile(fileobj=self._file, mode="w", format=tarfile.PAX_FORMAT)
        self._names: set[str] = set()

    def __enter__(self) -> Self:
        """Nothing more: the files are open already."""
        return self

    def __exit__(self, *_exc: object) -> None:
        """Frees the tar."""
        self._file.close()

    def add(self, name: str, data: bytes, *, executable: bool = False) -> None:
        """Adds a file. The first one of a name stays."""
        info = tarfile.TarInfo(name)
        info.size = len(data)
        info.mode = 0o755 if executable else 0o644
        self._put(info, io.BytesIO(data))

    def add_tree(self, root: Path, name: str = "") -> None:
        """Adds all files of a folder, as `inputs.list_files` sees it, below `name`."""
        for file in list_files(root):
            path = f"{name}/{file.path}" if name else file.path
            if file.is_link:
                info = tarfile.TarInfo(path)
                info.type = tarfile.SYMTYPE
                info.linkname = str(file.origin.readlink())
                self._put(info, None)
            else:
                self.add(path, file.origin.read_bytes(), executable=file.executable)

    def add_folder(self, name: str, files: tuple[Path, ...]) -> None:
        """Adds a folder of files, even when there are none (a COPY of it must not fail)."""
        info = tarfile.TarInfo(name)
        info.type = tarfile.DIRTYPE
        info.mode = 0o755
        self._put(info, None)
        for path in files:
            self.add(f"{name}/{path.name}", path.read_bytes())

    def tar(self) -> IO[bytes]:
        """The finished tar, at its beginning. Nothing can be added after this."""
        self._tar.close()
        self._file.seek(0)
        return self._file

    def _put(self, info: tarfile.TarInfo, data: IO[bytes] | None) -> None:
        if info.name not in self._names:
            self._names.add(info.name)
            self._tar.addfile(info, data)
