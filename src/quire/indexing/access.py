"""Who may read what in an open store: rules, groups and the default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from quire.core.types import AccessRule, Record, Viewer
from quire.errors import InputError
from quire.indexing.project import Project
from quire.pipeline import notes
from quire.store.access import visible_record
from quire.system import retry

COMMAND = "command"
"""The origin of the rules and groups that were set by a command, not in quire.toml."""


class AccessControl:
    """The access rules and groups of an open store; a change is effective at once."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def rules(self) -> dict[str, tuple[AccessRule, ...]]:
        """Return the access rules: those of quire.toml, then those set by a command."""
        return self._project.store.rules(self._project.config.space)

    def allow(self, glob: str, principals: Sequence[str]) -> AccessRule:
        """Let only these principals read the files that match a glob; return the rule."""
        rule = AccessRule(glob, tuple(principals))
        others = [other for other in self.rules()[COMMAND] if other.glob != glob]
        self.set_rules([*others, rule])
        return rule

    def remove(self, glob: str) -> None:
        """Remove the rule for a glob that was set by a command."""
        rules = self.rules()[COMMAND]
        others = [rule for rule in rules if rule.glob != glob]
        if len(others) == len(rules):
            raise InputError(
                f"no command has set a rule for {glob!r}",
                value=glob,
                hint="see `quire access list`",
            )
        self.set_rules(others)

    def set_rules(self, rules: Sequence[AccessRule]) -> None:
        """Replace the access rules that were set by a command."""
        project = self._project
        retry.write(
            project.store, project.config.space, lambda writer: writer.set_rules(COMMAND, rules)
        )

    def groups(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return the groups: those of quire.toml, then those set by a command."""
        return self._project.store.groups(self._project.config.space)

    def set_groups(self, groups: Mapping[str, Sequence[str]]) -> None:
        """Replace the groups that were set by a command."""
        project = self._project
        retry.write(
            project.store, project.config.space, lambda writer: writer.set_groups(COMMAND, groups)
        )

    def default(self) -> tuple[str, ...]:
        """Return who may read what no rule matches; empty: the owner alone."""
        return self._project.access_default()

    def check(self, viewer: Viewer | str) -> list[Record]:
        """List the records that a viewer may read."""
        with self._project.view(viewer) as view:
            return [visible_record(view.viewer, record) for record in view.listing()]

    def notes(self, rules: Iterable[AccessRule]) -> list[str]:
        """Return a note on each of some rules that matches no file in the store."""
        project = self._project
        records = retry.read(project.store, project.config.space, lambda view: [*view.listing()])
        paths = [record.path for record in records]
        return notes.rule_notes(tuple(rules), paths)
