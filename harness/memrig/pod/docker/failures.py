"""Whose fault an engine's error is, from its status and text.

The texts are those of Docker 20.10 to 28 with runc; `tests/unit/pod/docker/test_failures.py` holds
captured ones, and ones that look alike and must not match.
"""

import re
from typing import Literal

Fault = Literal["adapter", "prerequisite", "infrastructure", "missing"]

#: The container's own command cannot be run: the image's or the manifest's fault. runc writes these
#: while it starts the container's first process.
_COMMAND = re.compile(
    r"exec: .*(?:executable file not found|no such file or directory|permission denied)"
    r"|exec .*: exec format error"
    r"|chdir to cwd",
    re.DOTALL,
)
_RUNTIME = re.compile(
    r"OCI runtime (?:create|exec) failed|failed to create (?:shim )?task|runc create failed"
)

#: The image names a user that it does not have, or a working folder that cannot be one.
_IMAGE = re.compile(r"unable to find user|Cannot mkdir: .* is not a directory")

_MISSING_IMAGE = re.compile(r"no such image", re.IGNORECASE)
_MISSING_BIND = re.compile(
    r"bind (?:source|mount source) path does not exist|path .* is not shared"
)


def classify(status: int | None, text: str) -> Fault:
    """Tells whose fault an error of the engine is.

    Args:
        status: the HTTP status; None: no answer came at all.
        text: the engine's explanation.

    Returns:
        `adapter`: its command cannot start. `prerequisite`: the machine lacks something that the
        user can supply. `missing`: the object is not there. `infrastructure`: all else.
    """
    if status is None:
        return "infrastructure"
    if _MISSING_IMAGE.search(text) or _MISSING_BIND.search(text):
        return "prerequisite"
    if _IMAGE.search(text) or (_RUNTIME.search(text) and _COMMAND.search(text)):
        return "adapter"
    return "missing" if status == 404 else "infrastructure"
