"""Tasks: whether a record is one, whether it is done, when it is due, and whose it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from quire.core import stored_json
from quire.core.types.blocks import PAGES
from quire.core.types.records import BLOCK_PREFIX, Record

TASK_KINDS = tuple(f"{BLOCK_PREFIX}{name}" for name in ("todo", "kanban_card", "db_row"))
"""Kinds of records that are tasks; a row of a database only if it has a state or a due date."""
PAGE_KINDS = tuple(f"{BLOCK_PREFIX}{name}" for name in PAGES)
TODO = f"{BLOCK_PREFIX}todo"
DONE = ("done", "complete", "completed", "closed", "cancelled", "canceled")
OWNERS = ("assignee", "assigned", "assigned to", "assigned_to", "owner", "responsible")
"""Properties that name who a task belongs to."""
_BRACKETS = re.compile(r"\[\[([^][|]*)(?:\|[^][]*)?\]\]")


@dataclass(frozen=True, slots=True)
class Task:
    """What is known of a task."""

    done: bool
    due: datetime | None
    """The moment until which it is to be done; of a date, the end of the day."""
    owners: tuple[str, ...]

    def is_overdue(self, at: int) -> bool:
        """Tell whether it should have been done by a moment and is not."""
        return self.due is not None and not self.done and self.due.timestamp() <= at


@stored_json.of_record
def read_task(record: Record) -> Task | None:
    """Return the task that a record is; None: it is none."""
    properties: Mapping[str, Any] = json.loads(str(record.attrs.get("properties", "{}")))
    due = parse_due(properties.get("due"))
    status = properties.get("status")
    has_state = "done" in properties or isinstance(status, str)
    if record.kind != TODO and due is None and not (record.kind in TASK_KINDS and has_state):
        return None
    closed = isinstance(status, str) and status.strip().lower() in DONE
    return Task(bool(properties.get("done")) or closed, due, _read_owners(properties))


def parse_due(due: object) -> datetime | None:
    """Return the moment at which something is overdue; a date is over when its day is."""
    if not isinstance(due, str):
        return None
    try:
        moment = datetime.fromisoformat(due)
        moment = moment.replace(tzinfo=moment.tzinfo or UTC)
        return moment if "T" in due else moment + timedelta(days=1)
    except (ValueError, OverflowError):
        return None


def _read_owners(properties: Mapping[str, Any]) -> tuple[str, ...]:
    names: list[str] = []
    for key, value in sorted(properties.items()):
        if key.strip().lower() in OWNERS:
            names += value if isinstance(value, list) else [str(value)]
    return tuple(_BRACKETS.sub(r"\1", str(name)).strip() for name in names)
