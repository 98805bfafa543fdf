"""Prompts as data: what stands around the blocks, hashed together with how blocks are fenced."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from memrig.grading.judges.delimit import LONGEST_ANSWER, NOTICE, Block, fence
from memrig.model.canonical import Digest, digest_of


@dataclass(frozen=True, slots=True)
class Prompt:
    """One instruction.

    Args:
        before: stands before the blocks: what is to be decided, and by which rule.
        after: stands after them, so that the last word is the rig's: the form of the reply.
        gold: the name of the block that holds what is right.
    """

    before: str
    after: str
    gold: str = "reference"


@dataclass(frozen=True, slots=True)
class PromptSet:
    """The prompts of one protocol by case.

    `version` is for people and goes up with every change of a text; `digest` is what counts.
    """

    name: str
    version: int
    prompts: Mapping[str, Prompt]

    @property
    def digest(self) -> Digest:
        """The sha256 of all that a judge reads apart from the material."""
        texts = {case: asdict(prompt) for case, prompt in self.prompts.items()}
        rules = {"notice": NOTICE, "longest_answer": LONGEST_ANSWER}
        return digest_of({"name": self.name, "version": self.version, "texts": texts} | rules)

    def render(self, case: str, blocks: Sequence[Block]) -> str:
        """The user message of one case over some material."""
        prompt = self.prompts[case]
        return f"{prompt.before}\n\n{fence(blocks)}\n\n{prompt.after}"
