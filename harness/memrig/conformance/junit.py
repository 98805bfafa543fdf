"""A conformance report as JUnit XML, which CI systems show check by check."""

from xml.etree import ElementTree as ET

from memrig.conformance.model import CheckResult, ConformanceReport

#: What XML 1.0 cannot hold, however it is written; results are cleaned of control characters.
_UNWRITABLE = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF))


def junit_xml(report: ConformanceReport) -> str:
    """One test suite; a check is a test case, of its group as the class.

    A check that failed is a failure, one that broke an error, and one that does not apply is
    skipped with its reason. Checks that were not chosen are left out.
    """
    adapter, counts = report.adapter, report.counts
    name = f"memrig conformance: {adapter.name} {adapter.version}"
    root = ET.Element("testsuites")
    suite = ET.SubElement(
        root,
        "testsuite",
        name=_clean(name),
        tests=str(len(report.results)),
        failures=str(counts["failed"]),
        errors=str(counts["error"]),
        skipped=str(counts["not_applicable"]),
        time=f"{sum(result.seconds for result in report.results):.3f}",
    )
    facts = {
        "memrig": report.memrig_version,
        "contract": adapter.contract_version,
        "pod": adapter.pod,
        **{f"image.{service}": digest for service, digest in adapter.images.items()},
    }
    properties = ET.SubElement(suite, "properties")
    for key, value in facts.items():
        ET.SubElement(properties, "property", name=key, value=_clean(value))
    for result in report.results:
        _case(suite, result)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _case(suite: ET.Element, result: CheckResult) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        classname=f"conformance.{result.id.partition('.')[0]}",
        name=result.id,
        time=f"{result.seconds:.3f}",
    )
    if result.status == "passed":
        return
    if result.status == "not_applicable":
        ET.SubElement(case, "skipped", message=_clean(result.message))
        return
    kind = "failure" if result.status == "failed" else "error"
    told = ET.SubElement(case, kind, message=_clean(result.message), type=_clean(result.spec))
    lines = (
        ("rule", f"{result.title} ({result.spec})"),
        ("why", result.reason),
        ("expected", result.expected),
        ("got", result.got),
    )
    told.text = _clean("\n".join(f"{name}: {text}" for name, text in lines if text))


def _clean(text: str) -> str:
    return text.translate(_UNWRITABLE)
