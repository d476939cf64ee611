"""Checks of store, log, pool and environment, each with what to do about it."""

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import sqlalchemy as sa

from serendip.campaigns.campaign import Campaign
from serendip.campaigns.log.engine import connected, patiently
from serendip.campaigns.log.schema import HEAD
from serendip.campaigns.log.store import Store
from serendip.core.errors import NotAvailable, SerendipError

_LITTLE_SPACE = 100 * 2**20


@dataclass(frozen=True, slots=True)
class Finding:
    """One check."""

    check: str
    state: str
    """ok, warning or problem."""
    detail: str
    """What was found; for a problem, with what to do."""


def examine(where: str | Path | None = None, name: str | None = None) -> tuple[Finding, ...]:
    """All checks; those after a store that cannot be opened are left out.

    Args:
        where: The store.
        name: One campaign; by default all.
    """
    findings = [*_environment()]
    try:
        store = Store.open(where)
    except SerendipError as problem:
        return (*findings, Finding("store", "problem", str(problem)))
    findings.append(Finding("store", "ok", f"{store}, schema {HEAD}"))
    findings += _database(store)
    try:
        names = [info.name for info in store.campaigns()] if name is None else [name]
    except SerendipError as problem:
        return (*findings, Finding("campaigns", "problem", str(problem)))
    for one in names:
        findings += _campaign(store, one)
    return tuple(findings)


def _environment() -> Iterator[Finding]:
    yield Finding("python", "ok", sys.version.split()[0])
    for package in ("serendip", "numpy", "scipy", "pandas", "sqlalchemy"):
        try:
            yield Finding(package, "ok", version(package))
        except PackageNotFoundError:
            yield Finding(package, "problem", f"{package} is not installed; install serendip again")
    for package, extra in (("psycopg", "postgres"), ("rdkit", "chem")):
        try:
            yield Finding(package, "ok", version(package))
        except PackageNotFoundError:
            yield Finding(
                package, "ok", f"not installed; `pip install 'serendip[{extra}]'` adds it"
            )


def _database(store: Store) -> Iterator[Finding]:
    if store.engine.dialect.name != "sqlite":
        return
    free = shutil.disk_usage(store.folder).free
    state = "ok" if free > _LITTLE_SPACE else "warning"
    yield Finding("disk", state, f"{free / 2**20:.0f} MB free in {store.folder}")

    def pragma(text: str) -> list[str]:
        with connected(store.engine, writes=False) as connection:
            rows = connection.execute(sa.text(f"PRAGMA {text}")).all()
        return [str(row[0]) for row in rows]

    def found(name: str, text: str, wanted: list[str], remedy: str) -> Finding:
        try:
            rows = patiently(store.engine, lambda: pragma(text))
        except SerendipError as problem:
            return Finding(name, "problem", str(problem))
        if rows == wanted:
            return Finding(name, "ok", ", ".join(wanted) or "ok")
        return Finding(name, "problem", f"{', '.join(rows[:3])}; {remedy}")

    backup = "keep the file as it is and put a backup in its place"
    yield found("file", "integrity_check", ["ok"], backup)
    yield found("references", "foreign_key_check", [], backup)
    network = "keep the store on a local disk: a network folder may not lock files properly"
    yield found("journal", "journal_mode", ["wal"], network)


def _campaign(store: Store, name: str) -> Iterator[Finding]:
    try:
        campaign = Campaign(store, name)
    except SerendipError as problem:
        yield Finding(f"{name}: log", "problem", str(problem))
        return
    count = len(campaign.log)
    yield Finding(f"{name}: log", "ok", f"{count} events, every hash right")
    yield _tried(f"{name}: pool", lambda: _pool(campaign))
    yield _tried(f"{name}: model", lambda: _model(campaign))


def _tried(check: str, action: Callable[[], Finding]) -> Finding:
    try:
        return action()
    except SerendipError as problem:
        return Finding(check, "problem", str(problem))


def _pool(campaign: Campaign) -> Finding:
    candidates = campaign.candidates
    check = f"{campaign.name}: pool"
    if candidates.notes:
        return Finding(check, "warning", " ".join(candidates.notes))
    if len(candidates.ids) != campaign.state.created.n_candidates:
        return Finding(check, "problem", "the pool has another number of rows; restore the file")
    return Finding(check, "ok", f"{len(candidates.ids)} candidates, contents as at the start")


def _model(campaign: Campaign) -> Finding:
    check = f"{campaign.name}: model"
    try:
        problem = campaign.problem
        _ = problem.policy
    except NotAvailable as missing:
        return Finding(check, "warning", str(missing))
    return Finding(check, "ok", f"{campaign.settings.model}, {problem.n_features} features")
