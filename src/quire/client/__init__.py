"""Clients of the HTTP service, with the methods of an open store.

::

    with quire.Client("https://quire.example.com", token) as q:
        context = q.assemble("How are releases made?", budget=4000)

`*_calls` say what each method sends and how its answer is read; `transport` sends it, again where
that is safe, and turns problems into the errors that an open store raises.
"""

from __future__ import annotations

from quire.client.face import AsyncClient, Client

__all__ = ["AsyncClient", "Client"]
