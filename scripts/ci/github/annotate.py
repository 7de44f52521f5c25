#!/usr/bin/env python3
"""Prints the failures of JUnit reports as annotations of GitHub: annotate.py REPORT...

A report that does not exist, or is empty, is left out: its step did not run, or the command ended before it wrote its report,
and printed why. The exit code is 0, because the step that wrote the report has failed already. It is 1 if a report is not XML,
because its failures cannot be annotated.
"""

import pathlib
import sys
import xml.etree.ElementTree


def as_message(text):
    """A text as workflow commands take it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def as_property(text):
    """The same for the part before the message."""
    return as_message(text).replace(":", "%3A").replace(",", "%2C")


def annotations(report):
    """A line for each failure and error of a report."""
    root = xml.etree.ElementTree.parse(report).getroot()
    for suite in root.iter("testsuite"):
        for case in suite.iter("testcase"):
            for failure in [*case.iter("failure"), *case.iter("error")]:
                title = as_property(f"{root.get('name', 'caip')}: {case.get('name', '')}")
                message = as_message("\n".join(filter(None, [failure.get("message"), (failure.text or "").strip()])))
                place = suite.get("name", "")
                is_source = pathlib.Path(place).is_file() and report.parent not in pathlib.Path(place).parents
                file = f"file={as_property(place)}," if is_source else ""
                yield f"::error {file}title={title}::{message}"


def main():
    broken = False
    for report in map(pathlib.Path, sys.argv[1:]):
        if not report.exists() or report.stat().st_size == 0:
            continue
        try:
            for line in annotations(report):
                print(line)
        except xml.etree.ElementTree.ParseError as error:
            broken = True
            print(f"{report} is not a JUnit report: {error}. Its failures have no annotations.", file=sys.stderr)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
