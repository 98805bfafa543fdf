"""Words that deny a whole clause, its verb or what follows it, and those that only seem to."""

import re

from memrig.grading.typed.words import content

#: Denies the clause as a whole.
OUTER = re.compile(
    r"\b(?:(?:not|never|no longer|hardly) (?:actually |really |at all )?"
    r"(?:true|the case|correct|right|so|accurate|a fact) that"
    r"|no truth (?:in|to)|(?:false|untrue|incorrect|wrong|a lie|a myth|mistaken|inaccurate) "
    r"(?:that|to (?:say|claim|think))|den(?:y|ies|ied) that|contrary to|far from)\b"
    r"|\bno (?:[a-z]+ )?(?:evidence|indication|sign|proof|suggestion) (?:[a-z]+ )?that\b"
    r"|\b(?:is|was|are|were)(?: simply| just| plainly)? "
    r"(?:false|untrue|incorrect|wrong|mistaken|a lie|a myth)\b|\bred herring"
    r"|\b(?:claim|statement|idea|notion|belief)\b[^.;]*\b(?:is|was) not (?:true|correct|right)\b"
    r"|\b(?:is|was) not (?:true|correct|right|the case)\W*$"
)
#: Denies nothing, though it holds a denying word.
HARMLESS = re.compile(
    r"\bnot (?:only|just|merely|before|until|earlier|later|more than|less than|least)\b"
    r"|\bno (?:later|earlier|sooner|more|less|fewer|doubt|problem|matter|wonder) (?:than|that)?\b"
    r"|\bnothing (?:but|else|other)\b|\bnot (?:sure|certain)\b|\bwithout (?:a )?doubt\b"
    r"|\bno doubt\b|\bwhether or not\b|\bno\W+(?=,)|^\W*no\s*[,.!:-]|^\W*no\W*$"
    r"|\b(?:not|no) (?:(?:a|an|just|mere|purely|merely) )*"
    r"(?:coincidence|coincidental|unrelated|irrelevant)\b"
    r"|\bno one (?:else|other)\b|\bif not\b|\bnot to mention\b"
)
#: Denies the verb that it stands by.
INNER = re.compile(
    r"\b(?:not|never|no longer|no|nor|neither|none|nobody|no one|nothing|without|hardly|lacks?"
    r"|lacking|absence of|lack of|excluding|unlikely|coincidence|coincidental|unrelated"
    r"|independent(?:ly)? of|irrelevant)\b"
)
#: Denies what follows it.
VERBS = re.compile(
    r"\b(?:den(?:y|ies|ied|ying)|refus(?:e|es|ed|ing)|declin(?:e|es|ed|ing) to|fail(?:s|ed|ing)? to"
    r"|stop(?:s|ped|ping)?|ceas(?:e|es|ed|ing)|quit(?:s|ting)?|g[ai]ve(?:s|n)? up|giving up"
    r"|reject(?:s|ed|ing)?|abandon(?:s|ed|ing)?|got rid of|cancel(?:s|led|ed|ling|ing)?"
    r"|rul(?:e|es|ed|ing) out|exclud(?:e|es|ed|ing)|disprov(?:e|es|ed|ing)"
    r"|avoid(?:s|ed|ing)?|dismiss(?:es|ed|ing)?)\b"
)


def denying_verbs(folded: str) -> frozenset[str]:
    """The stems of the verbs in a text that deny what follows them."""
    return frozenset(stem for found in VERBS.findall(folded) for stem in content(found))
