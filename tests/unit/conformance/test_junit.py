"""A report as JUnit XML says what the report says."""

from xml.etree import ElementTree as ET

from memrig.conformance.junit import junit_xml
from memrig.conformance.model import CheckResult, Subject, conclude

SUBJECT = Subject(
    name="mine",
    version="1 & 2",
    pod="docker",
    images={"adapter": "sha256:ab"},
    endpoint=None,
    declared_name="mine",
    declared_version="1",
    contract_version="1.0",
)


def result(name: str, status: str, message: str = "") -> CheckResult:
    return CheckResult(
        id=name,
        title="It holds.",
        reason="Else it breaks.",
        spec="protocol §1",
        status=status,  # type: ignore[arg-type]
        message=message,
        expected="<b>",
        got="\x00&",
        seconds=0.25,
    )


RESULTS = (
    result("a.one", "passed"),
    result("a.two", "failed", 'it said "no" & <left>\x1b'),
    result("b.three", "not_applicable", "nothing is declared"),
    result("b.four", "error", "the check crashed"),
)


def test_every_check_is_a_case_with_its_status():
    """Counts and kinds are those of the report, and what XML cannot hold is gone."""
    root = ET.fromstring(junit_xml(conclude("0.1.0", SUBJECT, RESULTS, ())))  # noqa: S314 - ours
    (suite,) = root
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped", "time")}
    assert counts == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1", "time": "1.000"}
    cases = {case.get("name"): [child.tag for child in case] for case in suite.iter("testcase")}
    assert cases == {"a.one": [], "a.two": ["failure"], "b.three": ["skipped"], "b.four": ["error"]}
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == 'it said "no" & <left>'
    assert failure.text is not None
    assert "expected: <b>" in failure.text
    assert "rule: It holds. (protocol §1)" in failure.text


def test_the_suite_says_what_was_checked():
    """The image's digest and the contract's version stand in its properties."""
    root = ET.fromstring(junit_xml(conclude("0.1.0", SUBJECT, RESULTS, ())))  # noqa: S314 - ours
    properties = {p.get("name"): p.get("value") for p in root.iter("property")}
    assert properties["image.adapter"] == "sha256:ab"
    assert properties["contract"] == "1.0"
