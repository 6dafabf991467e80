"""Adds up the results of all test suites and prints them, last the line "N passed, N failed".

A suite that gave no result counts as failed: no results file, a test program that stopped before its summary, a
target that did not build, a suite in which no test ran. The exit status is 1 when anything failed.

    summarize.py --build-code N --bazel NAME EVENTS CODE ... --pytest-xml FILE --pytest-code N

--bazel stands once for each time that Bazel ran tests.
"""

import argparse
import json
import pathlib
import re
import sys
import urllib.parse
from xml.etree import ElementTree

# Bazel's exit codes: 0 all passed, 3 built but some test failed; with both, every test reported a result.
BAZEL_COMPLETE = (0, 3)

CATCH_ALL_PASSED = re.compile(r"All tests passed \(\d+ assertions? in (\d+) test cases?\)")
CATCH_SOME_FAILED = re.compile(r"^test cases: +(\d+) \|(.*)$", re.MULTILINE)
# lit's closing table, for example "  Passed           : 12 (100.00%)".
LIT_LINE = re.compile(r"^ *(Passed|Failed|Expectedly Failed|Unexpectedly Passed|Unresolved|Timed Out) *: *(\d+)", re.MULTILINE)
LIT_GOOD = ("Passed", "Expectedly Failed")


def count_log(text):
    """(passed, failed) test cases by the closing lines of Catch2 or lit in a test's log; None when there are none."""
    if match := CATCH_ALL_PASSED.search(text):
        return int(match[1]), 0
    if match := CATCH_SOME_FAILED.search(text):
        failed = re.search(r"(\d+) failed", match[2])
        failed = int(failed[1]) if failed else 0
        return int(match[1]) - failed, failed
    lines = LIT_LINE.findall(text)
    if lines:
        passed = sum(int(count) for kind, count in lines if kind in LIT_GOOD)
        return passed, sum(int(count) for kind, count in lines) - passed
    return None


def count_target(status, logs):
    """(passed, failed) of one test target. A plain program, without a count of its own, is one test."""
    counts = [count for count in map(count_log, logs) if count]
    passed, failed = map(sum, zip(*counts)) if counts else (0, 0)
    if status != "PASSED":
        # A crash shows as a bad status with no failed case, or with no summary at all.
        return passed, max(failed, 1)
    if not counts:
        text = "\n".join(logs)
        return (0, 1) if "No tests ran" in text else (1, 0)
    return passed, failed if passed + failed else 1


def read_bazel(path):
    """{target: (passed, failed)} by Bazel's build event file, and the targets that gave no result."""
    statuses, logs, expected = {}, {}, set()
    for line in path.read_text().splitlines():
        event = json.loads(line)
        identity = event.get("id", {})
        if "targetConfigured" in identity and "test" in event.get("configured", {}).get("targetKind", ""):
            expected.add(identity["targetConfigured"]["label"])
        if "testResult" in identity:
            label = identity["testResult"]["label"]
            status = event["testResult"]["status"]
            if statuses.get(label, "PASSED") == "PASSED":
                statuses[label] = status
            for output in event["testResult"].get("testActionOutput", []):
                if output["name"] == "test.log":
                    file = pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(output["uri"]).path))
                    logs.setdefault(label, []).append(file.read_text(errors="replace"))
    results = {label: count_target(status, logs.get(label, [])) for label, status in statuses.items()}
    return results, sorted(expected - results.keys())


def read_pytest(path):
    """(passed, failed, skipped) by pytest's JUnit file; an error in a fixture or while collecting is a failure."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        outcomes = {child.tag for child in case}
        if outcomes & {"failure", "error"}:
            failed += 1
        elif "skipped" in outcomes:
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-code", type=int, required=True)
    parser.add_argument("--bazel", nargs=3, metavar=("NAME", "EVENTS", "CODE"), action="append", required=True)
    parser.add_argument("--pytest-xml", type=pathlib.Path, required=True)
    parser.add_argument("--pytest-code", type=int, required=True)
    arguments = parser.parse_args()

    total_passed = total_failed = total_skipped = 0

    def report(name, passed, failed, skipped=0, note=""):
        nonlocal total_passed, total_failed, total_skipped
        total_passed, total_failed, total_skipped = total_passed + passed, total_failed + failed, total_skipped + skipped
        print(f"{name:60} {passed:6} passed {failed:4} failed{f' {skipped:4} skipped' if skipped else ''}{note}")

    print()
    if arguments.build_code:
        report("./dev build", 0, 1, note=f"  (exit code {arguments.build_code})")

    for name, events, code in arguments.bazel:
        results, missing = read_bazel(pathlib.Path(events)) if pathlib.Path(events).exists() else ({}, [])
        suffix = "" if name == "host" else f" ({name})"
        for label, (passed, failed) in sorted(results.items()):
            report(label + suffix, passed, failed)
        for label in missing:
            report(label + suffix, 0, 1, note="  (no result: it did not build)")
        if not results or (int(code) not in BAZEL_COMPLETE and not missing):
            report("bazel test" + suffix, 0, 1, note=f"  (exit code {code}, {len(results)} targets with a result)")

    counts = read_pytest(arguments.pytest_xml) if arguments.pytest_xml.exists() else (0, 0, 0)
    # pytest's own exit codes: 0 passed, 1 some failed; anything else (interrupted, usage, nothing collected) is no result.
    if arguments.pytest_code not in (0, 1) or counts[0] == 0:
        counts = (counts[0], counts[1] + 1, counts[2])
    report("pytest", *counts, note=f"  (exit code {arguments.pytest_code})" if arguments.pytest_code > 1 else "")

    print()
    print(f"{total_passed} passed, {total_failed} failed" + (f", {total_skipped} skipped" if total_skipped else ""))
    return 1 if total_failed else 0


if __name__ == "__main__":
    sys.exit(main())
