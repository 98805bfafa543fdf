"""What words of reports mean the same, the opposite, or nearly nothing.

General English of reports about anything: it knows no data set's subject. A word may stand in
several groups ("decline" is both a fall and a refusal).
"""

import re

from memrig.grading.typed.words import listed

#: Words that say the same in a report. The name is the group's own, never a word.
GROUPS: dict[str, str] = {
    "RISE": """rise increase grow growth climb elevate escalate surge soar jump ramp swell mount
        expand raise heighten upward higher inflate spike intensify amplify uptick upturn""",
    "FALL": """fall drop decline decrease reduce reduction shrink diminish lower dwindle slump
        plunge dip downward lessen wane taper plummet downturn contract""",
    "WORSEN": "worsen deteriorate degrade decay erode weaken worse deterioration",
    "IMPROVE": "improve better recover strengthen heal recovery ameliorate",
    "HIGH": "high higher elevate excessive heightened",
    "LOW": "low lower depressed",
    "CAUSE": """cause lead due result trigger because originate source root underlie
        responsible attribute attributable produce induce contribute fuel stem""",
    "BEGIN": "begin start onset emerge initial initially commence arise launch originate",
    "END": "end stop cease finish conclude terminate halt discontinue",
    "GRADUAL": """gradual progressive steady incremental creep slowly cumulative successive
        progress stepwise bit-by-bit""",
    "SUDDEN": "sudden abrupt overnight instantaneous sharp spike",
    "REPEATED": """recur repeat persistent persist consistent chronic ongoing frequent
        regular continual continuous routine habitual recurrent constantly keep""",
    "SEVERAL": "multiple several many numerous various repeat series different",
    "ALONE": "isolated single one-off sporadic lone standalone",
    "NORMAL": """normal baseline stable unchanged usual typical expected healthy flat routine
        ordinary nominal steady constant""",
    "ODD": """abnormal anomaly anomalous unusual irregular atypical unexpected deviate aberrant
        outlier unstable suspicious irregularity strange""",
    "BEFORE": "before prior precede earlier beforehand previous ahead predate",
    "AFTER": "after afterwards following follow subsequent later thereafter",
    "FAIL": "fail failure error fault outage crash malfunction breakdown",
    "SUCCEED": "succeed success successful",
    "TROUBLE": """problem issue trouble difficulty challenge friction burden complaint frustration
        struggle hassle obstacle""",
    "HIDE": "hide conceal mask disguise obscure suppress withhold hidden cover-up undisclosed",
    "REVEAL": "disclose expose publish divulge",
    "ILLICIT": """unauthorized unauthorised illicit improper forbidden prohibited unapproved
        unsanctioned unlawful illegal illegitimate""",
    "STEAL": "exfiltrate steal leak extract siphon theft exfiltration divert embezzle",
    "BUY": "buy acquire purchase acquisition takeover procure procurement",
    "SELL": "sell sale divest divestiture",
    "FIRM": "company firm corporation business enterprise organization organisation",
    "STAFF": "employee staff worker personnel",
    "PUPIL": "student pupil learner",
    "SUBJECT": "patient participant enrollee",
    "DRUG": "drug medication medicine",
    "DOCTOR": "doctor physician clinician",
    "VENDOR": "vendor supplier",
    "PAY": "pay payment paid repay remuneration",
    "COST": "cost expense expenditure spend spending",
    "INCOME": "revenue income proceeds",
    "TALK": "talk discuss conversation discussion speak",
    "SAY": "say tell state mention claim assert report",
    "ASK": "ask request inquire enquire query",
    "TRY": "try attempt seek effort",
    "EVADE": "bypass circumvent evade sidestep dodge avoid workaround jailbreak",
    "MEANT": "deliberate intentional purposeful intent intend knowingly wilful calculated",
    "CHANCE": "accidental coincidental inadvertent unintentional random coincidence accident",
    "LARGE": """large big substantial significant considerable major serious severe nontrivial
        great heavy""",
    "SMALL": "small minor slight trivial minimal negligible mild insignificant modest",
    "FAST": "quick rapid fast accelerate swift speed",
    "NEED": "need require necessary necessitate requirement essential",
    "PREVENT": "prevent block avert forestall preclude",
    "HARM": "harm damage injure injury hurt adverse harmful detrimental",
    "ALLOW": "approve authorize authorise permit allow grant consent approval permission",
    "REFUSE": "refuse reject decline deny denial rejection disallow",
    "DELAY": "delay postpone late lag defer",
    "CHANGE": "change alter shift modify transition evolve alteration",
    "LINK": """correlate coincide associate relate link connect tie relationship correspond align
        correlation""",
    "CLASH": """contradict conflict inconsistent contrary mismatch discrepancy diverge divergence
        disagree inconsistency""",
    "FOCUS": "concentrate cluster focus center centre",
    "LAST": "remain persist continue stay endure",
    "AFFECT": "affect impact influence",
    "WARN": "warn alert alarm flag",
    "MEND": "fix repair remedy resolve solve correct resolution solution rectify",
    "DONE": "complete finish conclude completion",
    "WHOLE": "full complete entire whole",
    "PLUS": "positive favorable favourable",
    "MINUS": "negative adverse unfavorable unfavourable",
    "HELP": "help assist support aid",
    "FEAR": "anxious anxiety fear worry nervous dread afraid",
    "DIRT": "contaminate pollute pollutant contaminant toxin pollution",
    "EXAMINE": "investigate examine inspect audit probe scrutinize review",
    "PROBE": "probe test explore experiment",
    "FAKE": "fake fabricate forge falsify fraudulent fictitious sham bogus fraud forgery",
    "SECRET": "secret covert hidden clandestine surreptitious",
    "EMPTY": "exhaust deplete saturate drain exhaustion saturation depletion",
    "ENOUGH": "sufficient adequate enough",
    "SUM": "accumulate cumulative total aggregate accumulation",
    "USE": "use utilize utilise employ leverage",
    "MOVE": "move relocate transfer migrate",
    "GIVE": "give provide supply deliver offer",
    "TAKE_OUT": "remove delete eliminate erase",
    "MAKE": "create build construct develop establish",
    "GET": "get obtain receive gain",
    "SHARE": "share divulge",
    "LACK": "lack absence missing absent shortage",
    "DIFFER": "differ vary different variation varied distinct",
    "SPREAD": "spread propagate cascade ripple",
    "DISMISS": "dismiss ignore disregard overlook neglect",
    "PRAISE": "praise compliment commend",
    "HOME": "home house residence residential apartment",
    "WORK": "work job workplace",
    "CHILD": "child childhood kid",
    "FEEL": "feel emotion emotional",
    "STRESS": "stress strain pressure tension",
    "JUDGE": "assess evaluate appraise assessment evaluation",
    "MATCH": "match fit consistent align",
    "PLAN": "plan schedule",
    "RULE": "rule regulation policy",
    "AIM": "goal aim objective target purpose",
    "CENTRAL": "core central key primary main principal",
    "STEP": "step stage phase",
    "PROFIT": "profit earnings",
    "DANGER": "danger risk hazard threat dangerous hazardous",
    "SAFE": "safe safety secure",
    "WRONG": "wrong incorrect mistaken erroneous inaccurate",
    "HARD": "difficult hard tough",
    "NEAR": "near nearby close adjacent proximity",
    "CORRUPT": "misconduct wrongdoing malfeasance corruption corrupt bribe bribery",
    "TOGETHER": "together joint combine jointly collective",
    "COMPARE": "compare relative versus comparison",
    "ARRANGE": "coordinate arrange collude collusion coordination orchestrate",
    "FAMILY": "family relative spouse",
    "WEAKNESS": "weakness vulnerability vulnerable flaw",
    "CONTROL": "control govern regulate",
    "KNOW": "know aware knowledge awareness recognize recognise recognition",
    "NEW": "new novel recent",
    "CUSTOMER": "customer client consumer buyer",
    "PROCESS": "process handle",
    "FASTER": "faster fast quicker quick rapid accelerate speed",
    "SLOWER": "slower slow sluggish decelerate slowdown",
    "LONGER": "longer long lengthen prolong extend",
    "SHORTER": "shorter short shorten brief curtail",
    "STRONGER": "stronger strong strengthen",
    "WEAKER": "weaker weak weaken",
    "WIDER": "wider wide widen broaden broad",
    "NARROWER": "narrower narrow tighten",
    "WARMER": "warmer warm hotter hot warmth",
    "COLDER": "colder cold cooler cool",
    "ABOVE": "above exceed surpass overshoot overrun",
    "BELOW": "below undercut undershoot underrun",
    "MORE": "more greater larger bigger",
    "FEWER": "fewer lesser less smaller",
    "GAIN": "gain win",
    "LOSE": "lose",
    "OPEN": "open reopen",
    "SHUT": "close shut",
    "UPSTREAM": "upstream",
    "DOWNSTREAM": "downstream",
    "INSIDE": "inside inward inflow inbound",
    "OUTSIDE": "outside outward outflow outbound",
    "SURPLUS": "surplus overfund",
    "DEFICIT": "deficit shortfall",
    "ENABLE": "enable activate",
    "DISABLE": "disable deactivate",
    "CONFIRM": "confirm verify corroborate validate",
    "REFUTE": "refute disprove rebut invalidate",
    "ADD": "add",
}
#: Groups of which one speaks against the other.
OPPOSITES = (
    ("RISE", "FALL"),
    ("HIGH", "LOW"),
    ("WORSEN", "IMPROVE"),
    ("GRADUAL", "SUDDEN"),
    ("SEVERAL", "ALONE"),
    ("REPEATED", "ALONE"),
    ("NORMAL", "ODD"),
    ("BEFORE", "AFTER"),
    ("FAIL", "SUCCEED"),
    ("HIDE", "REVEAL"),
    ("BUY", "SELL"),
    ("MEANT", "CHANCE"),
    ("LARGE", "SMALL"),
    ("ALLOW", "REFUSE"),
    ("BEGIN", "END"),
    ("PLUS", "MINUS"),
    ("FASTER", "SLOWER"),
    ("LONGER", "SHORTER"),
    ("STRONGER", "WEAKER"),
    ("WIDER", "NARROWER"),
    ("WARMER", "COLDER"),
    ("ABOVE", "BELOW"),
    ("MORE", "FEWER"),
    ("GAIN", "LOSE"),
    ("OPEN", "SHUT"),
    ("UPSTREAM", "DOWNSTREAM"),
    ("INSIDE", "OUTSIDE"),
    ("SURPLUS", "DEFICIT"),
    ("ENABLE", "DISABLE"),
    ("CONFIRM", "REFUTE"),
    ("ADD", "TAKE_OUT"),
)
#: Where the opposite is said, the fact is not, however much of the rest is.
DIRECTIONS = frozenset(
    listed(
        "RISE FALL HIGH LOW WORSEN IMPROVE PLUS MINUS FASTER SLOWER LONGER SHORTER STRONGER WEAKER "
        "WIDER NARROWER WARMER COLDER ABOVE BELOW MORE FEWER GAIN LOSE SURPLUS DEFICIT"
    )
)
#: What goes worse has often risen or fallen, but is not said to.
AKIN = (("RISE", "WORSEN"), ("FALL", "WORSEN"), ("HIGH", "RISE"), ("LOW", "FALL"),
        ("GRADUAL", "REPEATED"), ("REPEATED", "SEVERAL"))  # fmt: skip

#: Words of which every report is full: they tell a fact from another one hardly at all.
GENERIC = frozenset(
    listed("""
    pattern evidence data suggest indicate show reveal appear seem specific actual actually user
    various include involve base overall general clear likely potential factor situation level type
    kind way thing time period demonstrate reflect represent consistent particular certain
    simply real true fact rather instead even well also still yet already just only both
    per via within across throughout toward towards among along around about upon despite
    make making become get give take go come use person people man woman someone
    information detail record note log entry report episode document observation finding
    point sign signal example instance case part number amount degree extent range
    approximately roughly nearly almost
    chain layer value area place aspect role state status activity event action operation outcome
    effect element component item group set form area context basis course feature single
    describe identify note observe present visible clear clearly plus respective overall current
    greater fewer lesser less concentration patient company student client employee participant
    average amount session
    """)
)
#: Words that tie the rest together: half a word's weight.
RELATION = frozenset(
    listed(
        "CAUSE LINK CHANGE SEVERAL LAST AFFECT NEED BEFORE AFTER SAY GIVE GET MAKE USE TROUBLE "
        "BEGIN END CENTRAL KNOW PROCESS FOCUS LARGE"
    )
)

#: What a report claims of something, rather than names: a change, a state, an act. A short fact
#: that has such a word is hardly stated by an answer that has none of them.
TELLING = frozenset(name for pair in OPPOSITES for name in pair) - RELATION | frozenset(
    listed("EVADE EMPTY STEAL FAKE ILLICIT CLASH SPREAD PREVENT DELAY FAST DISMISS ARRANGE DIRT")
)

#: Words that deny their own rest: "incomplete" is "not complete". Those in "un-" need no list.
DENYING = frozenset(
    listed("""
    incomplete inadequate insufficient inconsistent incorrect inaccurate independent ineffective
    inactive inability incapable incompatible inconclusive indirect ineligible informal infrequent
    insignificant insecure invalid invisible involuntary impossible improper improbable imperfect
    irregular irrelevant irresponsible illegal illogical dishonest disagree disconnect disapprove
    disappear disallow disable noncompliant nonexistent abnormal
    """)
)
NOT_DENYING = re.compile(r"under|uni[tqfvo]|until|unless|uncle|union")

#: Forms that no rule of endings leads back to their word.
IRREGULAR = {
    form: word
    for pair in listed("""
        rose,risen:rise fell,fallen:fall grew,grown,growth:grow led:lead drove,driven:drive
        began,begun:begin paid:pay bought:buy sold,sale:sell gave,given:give took,taken:take
        hid,hidden:hide stole,stolen,theft:steal spoke,spoken:speak said:say told:tell kept:keep
        left:leave lost,loss:lose made:make found:find went,gone:go came:come got,gotten:get
        held:hold built:build sent:send spent:spend met:meet ran:run saw,seen:see knew,known:know
        thought:think brought:bring sought:seek chose,chosen,choice:choose wrote,written:write
        broke,broken:break withheld:withhold withdrew,withdrawn,withdrawal:withdraw felt:feel
        dealt:deal meant:mean shrank,shrunk:shrink sank,sunk:sink threw,thrown:throw drew,drawn:draw
        flew,flown:fly slept:sleep swept:sweep caught:catch taught:teach fought:fight bound:bind
        resolution,resolved:resolve deception,deceptive:deceive reception:receive
        destruction,destructive:destroy diagnosis,diagnoses,diagnostic:diagnose
        analysis,analyses,analytic,analytical:analyze analyse:analyze
        consumption:consume assumption:assume presumption:presume reduction:reduce
        production:produce introduction:introduce expansion:expand extension:extend
        suspension:suspend decision:decide division:divide conclusion:conclude
        exclusion:exclude intrusion:intrude collusion:collude admission:admit
        permission:permit submission:submit transmission:transmit omission:omit
        perception:perceive conception:conceive exceed,excess,excessive:exceed
        success,successful,successfully:succeed proof,proven:prove belief:believe
        relief:relieve grief:grieve behaviour:behavior strength:strong length,lengthen:long
        depth,deepen:deep width,widen:wide height:high anomalies,anomalous:anomaly
        suspicious,suspicion:suspect denial:deny maintenance:maintain retention:retain
        explanation:explain acquisition,acquire:acquire revision:revise
        inclusion:include cessation:cease pursuit:pursue response:respond
        recurrence,recurrent,recurring:recur occurrence:occur auth:authentication
        admin:administrator config:configuration prod:production env:environment info:information
        app:application apps:application docs:document doc:document repo:repository
        dev:development ops:operations avg:average temp:temperature
        colour:color centre:center favour:favor organisation:organization
        authorise,authorised,authorisation:authorize recognise,recognition:recognize
        children:child women:woman men:man people:person lives:life better:better
        worse:worse worst:worse higher:higher lower:lower
        doubled,doubling:double tripled,tripling:triple halved,halving:half
    """)
    for forms, _, word in [pair.partition(":")]
    for form in forms.split(",")
}

_STOOD = r"st(?:ood|ands?|anding)|(?:is|are|was|were|came|comes?|amount(?:s|ed)?|hover(?:s|ed)?)"

_WENT = r"is|are|was|were|mov\w+|trend\w*|tick\w*|edg\w+|creep\w*|crept|shot|com\w+|came|head\w*"
_BY_SO_MUCH = r"(?:by |from |about )?[~$]?\d"

#: Turns of phrase as the one word of a group that they amount to.
PHRASES = (
    (r"\b(?:due to|owing to|because of|as a result of|on account of|thanks to)\b", " cause "),
    (r"\bdriven by\b|\bdriving (?:up|the|this|these|a|an)\b", " cause "),
    (r"\bunrelated\b|\bnothing to do with\b|\bindependent(?:ly)? of\b", " cause link "),
    (r"\bnot (?:just|merely|simply|solely) (?:(?!\bbut\b)[^,;.])*(?=[,;.]|$)", " "),
    (r"\b(?:root|underlying|main|primary|actual|true) causes?\b", " cause "),
    (r"\bover time\b|\blittle by little\b|\bstep by step\b", " gradually "),
    (r"\bday (?:by|after|over) day\b", " successive "),
    (r"\b(?:week|month|quarter|year)[- ](?:over|on|by)[- ]\w+\b", " successive "),
    (r"\ball at once\b|\bat once\b|\bout of nowhere\b", " suddenly "),
    (r"\bat the same time\b", " coincide "),
    (r"\bahead of\b", " before "),
    (r"\bcarr(?:y|ies|ied) out\b", " perform "),
    (r"\b(?:go|goes|went|gone) up\b|\bon the rise\b", " rise "),
    (r"\b(?:go|goes|went|gone) down\b", " fall "),
    (rf"\b(?:{_STOOD}) (?:at|to|around|about)\b(?=[\s~$]*\d)", " "),
    (r"\b(?:was|were|is|are|reach(?:es|ed|ing)?|reads?|total(?:s|ed|led|ling)?)(?= [~$]?\d)", " "),
    (rf"\b(?:{_WENT}) (?:\w+ly )?(?:up|upwards?)\b|\bup (?={_BY_SO_MUCH})", " rise "),
    (rf"\b(?:{_WENT}) (?:\w+ly )?(?:down|downwards?)\b|\bdown (?={_BY_SO_MUCH})", " fall "),
    (r"\babove\b|\bover (?=[~$]?\d)|\bin excess of\b|\bhigher than\b", " exceed "),
    (r"\bbelow\b|\bunder (?=[~$]?\d)|\bbeneath\b|\blower than\b", " undercut "),
    (r"\bmore (?!than \d|or less|than one)", " greater "),
    (r"\bset(?:s|ting)? up\b", " establish "),
    (r"\bruns? out of\b|\bran out of\b|\bus(?:es|ed|ing) up\b", " exhaust "),
    (r"\b(?:pil|add|build|built)(?:s|es|ed|ing)?[- ]?up\b", " accumulate "),
    (r"\bpile up\b", " accumulate "),
    (r"\bred herrings?\b|\b(?:a |mere |pure |purely )*coincidence\b|\bcoincidental\b", " cause "),
    (r"\b(?:get|gets|getting|got) (?:around|past)\b|\bwork(?:s|ed|ing)? around\b", " bypass "),
    (r"\bon purpose\b", " deliberate "),
    (r"\bas well as\b|\bin order to\b|\bsuch as\b|\bfor example\b|\bat least\b|\bat most\b", " "),
    (r"\bmore than one\b|\ba number of\b|\ba series of\b", " several "),
    (r"\bwithin (?:\w+ )?(?:range|limits|parameters|bounds)\b", " normal "),
)  # fmt: skip
