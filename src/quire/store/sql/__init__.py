"""The tables of a store, for every engine that speaks SQL.

Statements are written once, in the SQL that SQLite and PostgreSQL share. Where the two differ, they
are in SQLite's words, which an engine's connection translates: `?` and `?1` for parameters,
`carray(?)` for a list as a table, `CROSS JOIN ... ON` for a join in the order written, `+column`
and `INDEXED BY` for what the planner is to do. What differs in values is behind `Connection`.
"""
