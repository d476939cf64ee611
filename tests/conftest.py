"""What a run says at its end: which tests were skipped for want of something, and how to get it."""

from collections import Counter


def pytest_terminal_summary(terminalreporter):
    """One line for every reason; a file that was skipped as a whole counts once."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = Counter(_reason(report) for report in reports)
    if reasons:
        terminalreporter.section("skipped, and how to run it")
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"{count:4} {reason}")


def _reason(report):
    *_, reason = report.longrepr if isinstance(report.longrepr, tuple) else (report.longreprtext,)
    return reason.removeprefix("Skipped: ")
