"""In what two memory systems differ, in words: the telling first."""

from memrig.model.manifest import AdapterRef
from memrig.runs.lock import differences


def apart(old: AdapterRef, new: AdapterRef) -> str:
    """By name and version where these differ, else by kind of pod, else field by field.

    Empty where the two are equal.
    """
    if (old.name, old.version) != (new.name, new.version):
        return f"{old.name} {old.version} and {new.name} {new.version}"
    if old.pod != new.pod:
        return f"{old.name} {old.version} in a pod of kind {old.pod} and in one of kind {new.pod}"
    fields = differences(old.model_dump(mode="json"), new.model_dump(mode="json"))
    return "; ".join(list(fields)[:3])
