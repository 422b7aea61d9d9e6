"""The HTTP service: one store for a team, with tokens, limits, metrics and MCP.

`table` lists the endpoints, each with its schemas; `app` makes the application from it. What stands
before them, whatever is asked for, is `gate`: names, tokens, sizes, rates. `journal` keeps what the
worker processes share.
"""
