"""Numbers, dates, periods, yes or no: what counts as said, and what does not."""

import pytest

from memrig.grading.typed import grade_text
from memrig.model.gold import BooleanGold, DateGold, GoldAnswer, NumberGold, PeriodGold

#: (gold, question, answers that are right, answers that are wrong)
CASES: list[tuple[GoldAnswer, str, list[str], list[str]]] = [
    (
        NumberGold(type="number", value=925.0, unit="GBP", siblings=(850.0,)),
        "What rent does she pay now?",
        [
            "She pays £925 a month now; it used to be £850",
            "925",
            "£925",
            "nine hundred and twenty-five pounds",
            "£925, not £850",
            "She pays £925 rather than £850.",
            "It went up from £850 to £925.",
            "The rent was £850 until 2023, then £925.",
            "Not £850, £925",
            "Her rent is £925 per month, £75 more than before.",
            "She was paying £850, but now it's £925.",
            "It used to be £850, now £925.",
            "Since May 2024 she has paid £925 a month for the flat at 14 Alder Close.",
            "£925 (previously £850)",
            "It's £925 — up from £850.",
            "According to m3 (2024-05-02), the rent is £925.",
            "I'm fairly sure it is £925 a month.",
            "The rent isn't £850 any more; it's £925.",
            "She no longer pays £850 but £925.",
            "GBP 925.00",
            "She denied paying £850; the rent is £925.",
            "**£925**",
        ],
        [
            "£850",
            "It is not £925",
            "She doesn't pay £925 any more",
            "£925, no longer",
            "£925 or £850",
            "It is not true that she pays £925.",
            "She denied paying £925",
            "£850 now, before that £925",
            "925 euros",
            "I don't know",
            "She pays £925. That is not true.",
            "1, 2, 3, 850, 925, 1000",
            "What rent does she pay now?",
            "She never paid £925.",
            "She used to pay £925.",
            "She refused to pay £925",
            "It's false that the rent is £925.",
            "925 days",
            "£925, £850",
            "The claim that she pays £925 is false.",
            "It isn't £925.",
            "She stopped paying £925.",
            "Either £850 or £925",
            "neither £850 nor £925",
            "1925",
            "92.5",
            "She pays £1,925",
            "£925 and £930",
            "It was £925 until 2023, then £850.",
        ],
    ),
    (
        DateGold(type="date", value="2024-03-21", siblings=("2024-02-29", "2024-03-28")),
        "On what date did Biscuit move in with Amara?",
        [
            "21 March 2024",
            "2024-03-21",
            "March 21st",
            "On Thursday, 21 March 2024, Biscuit moved in.",
            "21/03/2024",
            "03/21/2024",
            "the 21st of March 2024",
            "Biscuit moved in on 21 March 2024, not on 28 March.",
            "Biscuit moved in on March 21, 2024",
            "It was originally planned for 29 February, but he moved in on 21 March 2024.",
            "On 21 March 2024 (a Thursday).",
            "In March 2024, on the 21st of March.",
        ],
        [
            "2024-03-28",
            "28 March 2024",
            "March 2024",
            "2024",
            "21 March 2023",
            "21 March or 28 March 2024",
            "Biscuit did not move in on 21 March 2024",
            "It is not true that it was 21 March 2024",
            "29 February, 21 March, 28 March 2024",
            "21 April 2024",
            "21 March 2024, no longer",
            "Not on 21 March 2024",
        ],
    ),
    (
        PeriodGold(type="period", start="2024-07-13", end="2024-07-20"),
        "From which day to which day were Amara and Jonas away on Mull?",
        [
            "13 July to 20 July 2024",
            "2024-07-13 to 2024-07-20",
            "13–20 July 2024",
            "from 13 to 20 July 2024",
            "July 13-20",
            "They left on 13 July 2024 and came back on 20 July 2024.",
            "between 13 July and 20 July",
        ],
        [
            "13 July 2024",
            "20 July to 13 July 2024",
            "13 to 21 July 2024",
            "not from 13 to 20 July 2024",
            "It is not true that they were away from 13 July to 20 July 2024",
            "13, 15 July, 20 July and 22 July 2024",
        ],
    ),
    (
        BooleanGold(type="boolean", value=False, about="Dmitri still owns Sparven"),
        "Does Dmitri still own his boat?",
        [
            "No",
            "No, he sold it.",
            "No.",
            "He doesn't own Sparven any more",
            "Dmitri no longer owns Sparven",
            "It is not true that Dmitri still owns Sparven",
            "False",
            "He does not.",
            "No, he sold it to Ida and Kalle.",
            "He sold it in 2024.",
            "The answer is no.",
            "nope",
            "That's not true.",
        ],
        [
            "Yes",
            "Yes, Dmitri still owns Sparven",
            "Dmitri still owns Sparven.",
            "Yes and no",
            "No. Yes.",
            "I don't know",
            "He does.",
            "Does Dmitri still own his boat?",
            "It is not true that Dmitri no longer owns Sparven",
            "true",
            "It is not the case that the answer is no",
        ],
    ),
    (
        NumberGold(type="number", value=4.0, unit="weeks", siblings=(3.0, 6.0)),
        "How many weeks later than first scheduled did Amara take the test for her certificate?",
        [
            "4 weeks",
            "four weeks",
            "28 days",
            "The exam was moved from 11 October to 8 November, four weeks later.",
            (
                "It was originally on 11 October 2024 but took place on 8 November 2024, so 4 "
                "weeks later."
            ),
            "4 weeks later",
        ],
        ["three weeks", "11 October and 8 November", "4 days", "4 or 6 weeks"],
    ),
    (
        NumberGold(type="number", value=30.0, unit="GBP", siblings=(925.0, 980.0, 1010.0)),
        (
            "How many pounds a month more does Amara pay at Alder Close than she did in her "
            "final months at Cotter Lane?"
        ),
        [
            "£30",
            "£30 more",
            "She pays £1,010 at Alder Close against £980 at Cotter Lane, so £30 more.",
            "30 pounds a month",
            "£1010 - £980 = £30",
        ],
        ["£1010", "£30, £925, £980, £1010", "£980 and £1010", "£85 more"],
    ),
    (
        NumberGold(
            type="number", value=625.0, unit="EUR", siblings=(480.0, 350.0, 495.0, 145.0, 613.0)
        ),
        (
            "What did the whole restoration cost Mr. Terlouw, labour and the three bought "
            "items together?"
        ),
        [
            "€625",
            "625 euros in total",
            "€480 for labour plus €145 for parts, which makes €625 in total.",
        ],
        ["€480 plus €145", "€480, €145, €625, €613", "€613"],
    ),
    (
        NumberGold(type="number", value=9.0, unit="o'clock", siblings=(10.0,)),
        "From what hour in the morning may any caller reach Tomás nowadays?",
        [
            "9",
            "nine",
            "from nine in the morning",
            "9 am",
            "9:00",
            "From 9 o'clock; it used to be ten.",
            "at nine, not ten",
            "09:00",
        ],
        ["ten", "10 am", "9 pm", "not nine"],
    ),
    (
        NumberGold(type="number", value=9.0, unit="cores", siblings=(11.0, 2.0)),
        "How many of the ice cores from May 2024 were in perfect condition?",
        ["9", "nine cores", "Nine of the eleven cores were in perfect condition."],
        ["11", "eleven cores", "2", "May 2024"],
    ),
    (
        NumberGold(type="number", value=1.0, unit="boards", siblings=(2.0, 3.0, 4.0)),
        "Once Emilia's new violin is built, how many of the good spruce boards will be left over?",
        ["1", "one", "One board", "only one board will be left", "just one"],
        ["two", "2 boards", "none"],
    ),
    (
        NumberGold(type="number", value=8.0, unit="years", siblings=(5.0, 6.0)),
        "According to the latest estimate, how old was Amara's dog at the start of 2025?",
        [
            "8",
            "eight years old",
            "He was about eight years old.",
            "The vet first said five, but he is really eight.",
        ],
        ["five", "six years"],
    ),
    (
        NumberGold(type="number", value=3450.0, unit="g", siblings=(4100.0, 4000.0)),
        "What did Elin's baby weigh at birth, in grams?",
        ["3450 g", "3,450 grams", "3.45 kg", "3450g"],
        ["4100 g", "3.45 g"],
    ),
    (
        NumberGold(
            type="number", value=350000.0, unit="CLP", siblings=(365000.0, 420000.0, 340000.0)
        ),
        "What does Tomás pay per month for the rooms in Cerro Barón?",
        [
            "350,000 pesos",
            "350.000 pesos",
            "$350.000",
            "CLP 350,000",
            "350 thousand pesos",
            "350000",
            "He now pays 350,000 pesos; the landlord first asked for 365,000.",
        ],
        ["365,000", "350 pesos", "350,000 or 365,000"],
    ),
    (
        NumberGold(
            type="number", value=3500000.0, unit="CLP", siblings=(3700000.0, 4100000.0, 890000.0)
        ),
        "For how much did the man let Tomás have the white van?",
        [
            "3.5 million pesos",
            "3,500,000 pesos",
            "three and a half million pesos",
            "3.500.000",
            "$3.5 million",
        ],
        ["3.7 million", "4.1 million pesos"],
    ),
    (
        NumberGold(type="number", value=78.0, unit="%", siblings=(71.0,)),
        "What mark in per cent did Amara get in her critical care examination?",
        ["78%", "78 per cent", "78 percent", "seventy-eight percent", "78"],
        ["71%", "7.8%"],
    ),
    (
        NumberGold(type="number", value=28.0, siblings=(24.0, 40.0, 12.0)),
        "How many illustrations does the finished heron book contain?",
        [
            "28",
            "28 illustrations",
            "The finished book contains 28 illustrations.",
            "twenty-eight pictures",
        ],
        ["24", "24 illustrations", "28 or 24"],
    ),
    (
        NumberGold(type="number", value=6.0, unit="times", siblings=(4.0,)),
        "How often was the debut article of Wen's supervisor Hauge really rejected?",
        ["6 times", "six times", "six times, not four", "6", "It was rejected six times."],
        ["four times", "4"],
    ),
    (
        NumberGold(type="number", value=2.0, unit="times", siblings=(3.0,)),
        "How often did he call?",
        ["twice", "two times", "2"],
        ["three times", "thrice"],
    ),
    (
        NumberGold(type="number", value=19.0, unit="minutes", siblings=(6.0, 11.0)),
        "By how many minutes was Amara's half marathon slower than the one Jonas ran?",
        ["19 minutes", "19 min", "Amara ran 2:11 and Jonas 1:52, so 19 minutes slower"],
        ["6 minutes", "11 min"],
    ),
    (
        NumberGold(type="number", value=35.0, unit="years", siblings=(37.0, 31.0, 6.0)),
        (
            "For how many years, counting by calendar year, was Dmitri a captain, from his "
            "first command until he gave up the cap?"
        ),
        [
            "35",
            "35 years",
            "He was a captain for 35 years, from 1981 to 2016.",
            "35 years, until he gave up the cap in 2016",
        ],
        ["37 years", "1981 to 2016"],
    ),
    (
        DateGold(type="date", value="1981", siblings=("1979", "2016")),
        "In what year did Dmitri have command of a ferry for the first time?",
        ["1981", "in 1981", "He first commanded a ferry in 1981.", "1981, not 1979"],
        ["1979", "1981 or 1979", "2016"],
    ),
    (
        DateGold(
            type="date", value="2024-11-15", siblings=("2024-09-30", "2025-03-31", "2024-11-11")
        ),
        "Until which date did Rosa have time to deliver the heron book in the end?",
        [
            "15 November 2024",
            "until 15 November 2024",
            "The deadline was first 30 September, then moved to 15 November 2024.",
            "until November 15",
            "The deadline was moved from 30 September to 15 November.",
        ],
        ["30 September 2024", "until 11 November"],
    ),
    (
        DateGold(type="date", value="2025-11-28", siblings=("2025-09-05",)),
        "When is Wen's thesis defence?",
        [
            "28 November 2025",
            "It was planned for 5 September but is now on 28 November 2025.",
            "The defence is on 28 November 2025 instead of 5 September.",
        ],
        [
            "5 September 2025",
            "It is on 5 September 2025, not 28 November.",
            "It was 28 November, now it is 5 September 2025",
        ],
    ),
]

RIGHT = [(gold, question, answer) for gold, question, right, _ in CASES for answer in right]
WRONG = [(gold, question, answer) for gold, question, _, wrong in CASES for answer in wrong]


@pytest.mark.parametrize(("gold", "question", "answer"), RIGHT)
def test_a_right_answer_passes(gold, question, answer):
    """A value is right where it is asserted, in whatever spelling, and alone of its kind."""
    assert grade_text(answer, gold, question) == 1


@pytest.mark.parametrize(("gold", "question", "answer"), WRONG)
def test_a_wrong_answer_fails(gold, question, answer):
    """Denied, former, of another unit, or one of several: it is not the answer."""
    assert grade_text(answer, gold, question) == 0
