"""A model as the renderer. It gets one data sheet and the document style, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

from memrig.generation.asking import Asker, Unusable
from memrig.generation.model import Sheet
from memrig.generation.prompts import renderer_system, sheet_prompt
from memrig.generation.spec import DocumentStyle
from memrig.generation.textcheck import (
    forbidden_in,
    foreign_figures,
    missing,
    word_count,
)
from memrig.model.canonical import digest_of
from memrig.model.chat import Chat

#: Tokens for each word of the longest document; figures and tables take more than prose.
_TOKENS_A_WORD = 4


@dataclass(frozen=True, slots=True)
class ModelRenderer:
    """Implements `Renderer` with a model.

    Args:
        asker: the model.
        forbidden: words that no document may use. The model is not told of them: what is forbidden
            says what is hidden. It hears of one only after using it.
    """

    asker: Asker
    forbidden: tuple[str, ...] = ()

    async def render(self, sheet: Sheet, style: DocumentStyle, seed: int) -> str:
        """See `Renderer`. The seed tells the calls for two equal sheets apart.

        Raises:
            GatewayError: the model could not be had, or gave no document that holds the sheet.
        """

        def use(text: str) -> str:
            document = _bare(text)
            if problems := problems_of(document, sheet, style, self.forbidden):
                raise Unusable(*problems)
            return document

        return await self.asker.ask(
            renderer_system(style),
            sheet_prompt(sheet),
            use,
            scope=f"render/{digest_of(sheet.model_dump(mode='json'))}/{seed}",
            where=f"episode {sheet.heading}, {sheet.day}",
            max_tokens=_TOKENS_A_WORD * style.words[1],
        )


def renderer_of(
    chat: Chat, model: str, *, forbidden: Sequence[str] = (), seed: int = 0
) -> ModelRenderer:
    """A model as the renderer of one scope.

    Args:
        chat: where it is reached.
        model: its name.
        forbidden: the spec's forbidden words.
        seed: of the calls.
    """
    return ModelRenderer(Asker(chat, model, "renderer", seed), tuple(forbidden))


def problems_of(
    text: str, sheet: Sheet, style: DocumentStyle, forbidden: Sequence[str]
) -> tuple[str, ...]:
    """Why a text is no document of this sheet, in words that name nothing but sheet and text."""
    least, most = style.words
    readings = [reading for section in sheet.sections for reading in section.readings]
    problems = [
        f'no line gives "{reading.label}" with its value {reading.value}'
        for reading in missing(text, readings)
    ]
    if sheet.day.isoformat() not in text:
        problems.append(f"the day {sheet.day.isoformat()} is not given")
    if figures := foreign_figures(text, sheet):
        problems.append(f"figures that the data sheet does not hold: {', '.join(figures)}")
    if used := forbidden_in(text, forbidden):
        problems.append(f"words that may not be used: {', '.join(used)}")
    if not least <= (count := word_count(text)) <= most:
        problems.append(f"it has {count} words, expected {least} to {most}")
    return tuple(problems)


def _bare(text: str) -> str:
    """The document without a code fence around it, ending with one line end."""
    lines = text.strip().splitlines()
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        lines = lines[1:-1]
    return "\n".join(line.rstrip() for line in lines).strip() + "\n"
