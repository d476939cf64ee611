"""Which files are slow, and what a run says at its end: what was skipped, and how to get it."""

from collections import Counter
from pathlib import Path

import pytest

SLOW = (
    "campaigns/test_asking.py",
    "campaigns/log/test_backup.py",
    "campaigns/log/test_bad_text.py",
    "campaigns/test_campaign.py",
    "campaigns/analysis/test_consistency.py",
    "campaigns/log/test_crashes.py",
    "campaigns/analysis/test_looks.py",
    "campaigns/intake/test_malformed.py",
    "cli/test_campaign.py",
    "cli/test_commands.py",
    "cli/test_interrupts.py",
    "contracts/test_policies.py",
    "contracts/test_same_choice.py",
    "compute/device/test_pool.py",
    "simulate/experiments/test_experiment.py",
    "simulate/experiments/test_provenance.py",
    "problems/folders/test_importing.py",
    "compute/test_actors.py",
    "compute/test_processes.py",
    "pools/test_sharded.py",
    "stores/test_stores.py",
    "simulate/backtests/test_backtest.py",
    "simulate/backtests/test_backtests_as_campaigns.py",
    "test_docs.py",
    "test_own_packages.py",
    "compute/test_guards.py",
    "test_skips.py",
    "web/api/test_api.py",
    "web/api/test_automation.py",
    "web/api/test_backtests.py",
    "web/api/test_openapi.py",
    "web/pages/test_race.py",
    "web/server/test_security.py",
    "web/test_stress.py",
    "web/server/test_uploads.py",
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
