"""Which files are slow, and what a run says at its end: what was skipped, and how to get it."""

from collections import Counter
from pathlib import Path

import pytest

SLOW = (
    "campaigns/test_asking.py",
    "campaigns/test_backup.py",
    "campaigns/test_bad_text.py",
    "campaigns/test_campaign.py",
    "campaigns/test_consistency.py",
    "campaigns/test_crashes.py",
    "campaigns/test_looks.py",
    "campaigns/test_malformed.py",
    "cli/test_campaign.py",
    "cli/test_commands.py",
    "contracts/test_policies.py",
    "contracts/test_same_choice.py",
    "device/test_device_pool.py",
    "experiments/test_experiment.py",
    "experiments/test_provenance.py",
    "folders/test_importing.py",
    "pools/test_actors.py",
    "pools/test_processes.py",
    "pools/test_sharded.py",
    "stores/test_stores.py",
    "test_backtests.py",
    "test_backtests_as_campaigns.py",
    "test_docs.py",
    "test_guards.py",
    "test_skips.py",
    "web/test_api.py",
    "web/test_automation.py",
    "web/test_backtests.py",
    "web/test_openapi.py",
    "web/test_race.py",
    "web/test_security.py",
    "web/test_stress.py",
    "web/test_uploads.py",
)
"""Files that take ten seconds of a processor or more, their servers included (--durations=0)."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Marks the tests of slow files, and of the browser, so that `-m "not slow"` is quick."""
    here = Path(__file__).parent
    for item in items:
        name = item.path.relative_to(here).as_posix()
        if name in SLOW or name.startswith("web/browser/"):
            item.add_marker(pytest.mark.slow)


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
