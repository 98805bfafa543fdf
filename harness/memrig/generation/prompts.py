"""What models are told that plan or render. Their wording is part of a dataset's provenance.

The renderer's prompts are made of a data sheet and a document style. They have no other argument:
no storyline, phase, fact, question or other episode can get in.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memrig.generation.model import Sheet
from memrig.generation.spec import DocumentStyle, Spec
from memrig.grading.judges.delimit import fence
from memrig.model.canonical import digest_of

_RENDERER = """\
You write one document for the archive of a workplace, from a data sheet given as JSON.

- The document is called: {title}
- Voice: {voice}
- Length: {least} to {most} words in all.
- Begin with the sheet's heading, and give its day as it is written there (YYYY-MM-DD).
- Give every reading of every section on a line of its own: its label, its value digit for digit, \
and its unit. You may use lists, tables with one reading a row, or one short sentence a reading.
- Report every event of the sheet in its own words.
- To reach the length, add neutral sentences about how such documents are written, filed and \
handed on. They hold no figures.
- Use no figure that is not in the sheet: no times, no counts, no numbered lists.
- Report; never judge, explain, compare, expect or recommend. There is only this sheet: never \
speak of other days, of what is usual, or of how anything develops.

Reply with the document alone, as plain text or Markdown."""

_PLANNER = """\
You plan the measured figures of a story that is told by daily documents. No document may ever say \
what is going on: the story must be readable from the figures alone, over several documents. You \
are given the storyline, the phase to plan, the series with the range of values that each may take \
in it, and the figures of the phases before.

Reply with one JSON object and nothing else:
{"values": {SERIES: [NUMBER, …], …}, "events": [[SENTENCE, …], …]}

- "values" has every series by its name; each list has exactly as many numbers as the phase has \
episodes, each number within the series' range for its episode and with no more decimals than asked.
- Figures move as real measurements do: not in straight lines, and never the same for each series.
- "events" has exactly one list for each episode, of two to four short sentences about everyday \
happenings at the place. They are neutral, hold no figure, and have nothing to do with the story."""

_AGAIN = "That cannot be used as it is:\n{problems}\nReply again, in full, as asked before."


def renderer_system(style: DocumentStyle) -> str:
    """The instructions of a renderer: the style's form, voice and length."""
    least, most = style.words
    return _RENDERER.format(title=style.title, voice=style.voice, least=least, most=most)


def sheet_prompt(sheet: Sheet) -> str:
    """A data sheet, fenced."""
    return fence([("data_sheet", _shown(sheet.model_dump(mode="json")))])


def planner_system() -> str:
    """The instructions of a planner."""
    return _PLANNER


@dataclass(frozen=True, slots=True)
class PhaseBrief:
    """What a planner is to plan: one phase.

    Args:
        name: of the phase.
        days: its episodes by date.
        series: what each series may take, by name.
        before: the figures of the phases before, by series.
        failed: why an earlier plan of the whole story did not work out.
    """

    name: str
    days: Sequence[str]
    series: Mapping[str, object]
    before: Mapping[str, Sequence[str]]
    failed: str = ""


def phase_prompt(spec: Spec, brief: PhaseBrief) -> str:
    """One phase to be planned, with the whole storyline, fenced."""
    told = {
        "place": spec.domain,
        "phase": brief.name,
        "episodes": len(brief.days),
        "dates": list(brief.days),
        "series": brief.series,
        "figures_of_the_phases_before": brief.before,
        "everyday_happenings_in_the_style_wanted": list(spec.routine),
    }
    if brief.failed:
        told["why_the_last_plan_did_not_work_out"] = brief.failed
    return fence([("storyline", spec.storyline), ("phase", _shown(told))])


def again_prompt(problems: Sequence[str]) -> str:
    """What was wrong with a reply."""
    return _AGAIN.format(problems="\n".join(f"- {problem}" for problem in problems))


def digest() -> str:
    """The prompts' digest, for a dataset's provenance."""
    return digest_of([_RENDERER, _PLANNER, _AGAIN])


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
