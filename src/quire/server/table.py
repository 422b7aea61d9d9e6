"""All endpoints, in the order of the reference.

To add one, write its function and its row in one of these modules: it gets its route, its part of
the OpenAPI document and of docs/http.md, and the tests of who may use it.
"""

from __future__ import annotations

from quire.server import (
    context_endpoints,
    document_endpoints,
    inspection_endpoints,
    memory_endpoints,
    store_endpoints,
)
from quire.server.endpoint import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    *context_endpoints.ENDPOINTS,
    *document_endpoints.ENDPOINTS,
    *store_endpoints.ENDPOINTS,
    *memory_endpoints.ENDPOINTS,
    *inspection_endpoints.ENDPOINTS,
)
