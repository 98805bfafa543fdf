"""Every error of the rig, in one tree, by whose fault it is.

::

    MemrigError                     exit 1   unexpected
    ├── UsageError                  exit 2   the user: a flag, a configuration, a name
    │   └── DataError               exit 2   the user: a file that cannot be used as it is
    ├── PrerequisiteError           exit 3   the machine: Docker, disk, data that is not here
    ├── AdapterError                exit 4   the system under test
    │   ├── AdapterRpcError                    a call ended with a status other than OK
    │   ├── AdapterTimeoutError                a call outlived its deadline
    │   ├── AdapterCrashedError                the process is gone, restarted, or never came up
    │   └── ContractError                      a response breaks docs/protocol.md
    ├── GatewayError                exit 4   the model provider
    ├── HarnessError                exit 1   us
    │   └── InfrastructureError     exit 4   the container engine or the disk; may be retried
    ├── IncompleteError             exit 4   trials failed, or a run is not whole
    ├── GateError                   exit 5   a gate that the user set was not met
    └── VerificationError           exit 6   a transcript or submission is not what it claims

A message says what happened, where, expected against got, and the next step. An interrupt
(Ctrl-C) ends with exit code 130 and is not an error of this tree.
"""

from typing import ClassVar, Literal

CrashKind = Literal["oom", "exit", "hang"]
GatewayFault = Literal[
    "provider",
    "auth",
    "missing_key",
    "rejected",
    "malformed",
    "not_allowed",
    "budget",
    "not_recorded",
    "cut_off",
]


class MemrigError(Exception):
    """The root. `exit_code` is what the command line ends with.

    Args:
        message: what happened, expected against got.
        where: the place, such as ``trial=… rpc=Search question=q12`` or ``adapter.toml: port``.
        fix: the next step for the reader, one sentence.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, where: str = "", fix: str = "") -> None:
        self.message = message
        self.where = where
        self.fix = fix
        super().__init__(message)

    def __str__(self) -> str:
        """The whole message on one or two lines, ready to show."""
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}\n  fix: {self.fix}" if self.fix else text


class UsageError(MemrigError):
    """The user asked for something that cannot be."""

    exit_code = 2


class DataError(UsageError):
    """A file the user gave cannot be used as it is; names file, place, value and fix."""


class PrerequisiteError(MemrigError):
    """The machine lacks something that the run needs."""

    exit_code = 3


class MissingDataError(PrerequisiteError):
    """Data that a suite needs, and memrig does not ship, is not on this machine."""


class AdapterError(MemrigError):
    """The system under test did something wrong. Scored under its own name, never hidden."""

    exit_code = 4


class AdapterRpcError(AdapterError):
    """A call ended with a gRPC status other than OK; `code` is the status name."""

    def __init__(self, code: str, details: str, *, where: str = "") -> None:
        self.code = code
        self.details = details
        super().__init__(f"the adapter answered {code}: {details or '(no details)'}", where=where)


class AdapterTimeoutError(AdapterError):
    """A call outlived its deadline. `seconds` is the deadline."""

    def __init__(self, seconds: float, *, where: str = "") -> None:
        self.seconds = seconds
        super().__init__(f"no answer within {seconds:g} s", where=where)


class AdapterCrashedError(AdapterError):
    """The adapter's process is gone, restarted by itself, or never came up.

    `kind` is how: `oom` (killed for memory), `exit` (ended or restarted by itself), `hang` (alive,
    but no longer serving). `log_tail` holds its last lines.
    """

    def __init__(
        self, kind: CrashKind, message: str, *, log_tail: str = "", where: str = ""
    ) -> None:
        self.kind: CrashKind = kind
        self.log_tail = log_tail
        super().__init__(message, where=where)


class ContractError(AdapterError):
    """A response breaks the contract; the message cites the rule."""


class GatewayError(MemrigError):
    """A model could not be had. `kind` is why, and decides what becomes of the question:

    - ``provider``: overloaded, failing or unreachable, after retries;
    - ``auth``: the provider refuses the key; `missing_key`: there is none;
    - ``rejected``: the provider refuses this very request (too long, filtered, malformed);
    - ``malformed``: what came back is not a reply;
    - ``not_allowed``: the run does not name this model;
    - ``budget``: a limit of the run in tokens or money is reached;
    - ``not_recorded``: a replay has no such exchange;
    - ``cut_off``: in a replay, the call that was recorded outlived its question's time.

    `rejected` and `malformed` settle the question as ungraded; every other kind leaves it open, so
    that repeating the command goes on there.
    """

    exit_code = 4

    def __init__(
        self, message: str, *, kind: GatewayFault = "provider", where: str = "", fix: str = ""
    ) -> None:
        self.kind: GatewayFault = kind
        super().__init__(message, where=where, fix=fix)

    @property
    def settles(self) -> bool:
        """Whether asking again would meet the same."""
        return self.kind in {"rejected", "malformed"}


class HarnessError(MemrigError):
    """A defect of the rig. Please report it."""


class InfrastructureError(HarnessError):
    """The container engine or the machine failed under a trial. The only kind that is retried."""

    exit_code = 4


class IncompleteError(MemrigError):
    """Some trials did not end, so the run is not whole. `report` is of what did."""

    exit_code = 4
    report: object = None


class GateError(MemrigError):
    """A gate set by the user was not met."""

    exit_code = 5


class VerificationError(MemrigError):
    """Evidence does not hold: a broken chain, another hash, a grade that cannot be redone."""

    exit_code = 6
