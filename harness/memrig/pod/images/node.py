"""Node packages for an image, collected on the host as wheels are: the build has no network."""

import shutil
from pathlib import Path

from memrig.errors import DataError, PrerequisiteError
from memrig.model.canonical import digest_file, digest_of, short
from memrig.pod.images.collecting import cached, output_of, tail_of
from memrig.pod.images.lock import cache_dir
from memrig.pod.images.types import Progress

NODE_LOCK = "package-lock.json"
_PACKAGE = "package.json"
#: Where they stand in the build's context.
MODULES = "node_modules"

#: No package's own scripts are run: what an image gets is what its lock names by hash.
_COMMAND = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")
_WRONG_LOCK = ("EINTEGRITY", "npm ci can only install", "EUSAGE", "EJSONPARSE", "Invalid: lock")


async def collect_modules(folder: Path, say: Progress) -> Path:
    """The folder of all packages that a folder's package-lock.json names, checked against it.

    Only packages without compiled parts serve every platform; npm takes the host's otherwise.

    Raises:
        PrerequisiteError: no npm on this machine, or a package that cannot be had.
        DataError: package.json is missing, or a package has another hash than the lock says.
    """
    files = [folder / _PACKAGE, folder / NODE_LOCK]
    if not files[0].is_file():
        raise DataError("is missing", where=str(files[0]), fix=f"it goes with {NODE_LOCK}")
    key = digest_of({path.name: digest_file(path) for path in files})

    async def fill(into: Path) -> None:
        say(f"collecting the node packages of {folder}")
        if shutil.which("npm") is None:
            raise PrerequisiteError(
                f"collecting the node packages of {folder} needs npm, which is not on this machine",
                fix="apt-get install --no-install-recommends npm, or load the image instead "
                "(`memrig image load`)",
            )
        for path in files:
            shutil.copyfile(path, into / path.name)
        code, output = await output_of(_COMMAND, {"NPM_CONFIG_COLOR": "false"}, cwd=into)
        if code != 0:
            raise _failure(output, folder)
        (into / MODULES).mkdir(exist_ok=True)

    return await cached(cache_dir() / "node" / short(key, 32), fill) / MODULES


def _failure(output: str, folder: Path) -> DataError | PrerequisiteError:
    tail = tail_of(output, "npm warn")
    if any(sign in output for sign in _WRONG_LOCK):
        return DataError(
            f"npm refuses what the lock does not name exactly:\n{tail}",
            where=str(folder / NODE_LOCK),
            fix="lock again: `npm install --package-lock-only --ignore-scripts`",
        )
    return PrerequisiteError(
        f"npm failed:\n{tail}",
        where=f"collecting the node packages of {folder}",
        fix="see that the registry npm is configured for can be reached; on a machine without one, "
        "load the image instead (`memrig image load`)",
    )
