"""All endpoints, in the order of the reference.

To add one, write its function and its row in one of these modules: it gets its route, its part of
the OpenAPI document and of docs/http.md, and the tests of who may use it.
"""

from __future__ import annotations

from quire.server import (
    block_endpoints,
    context_endpoints,
    document_endpoints,
    index_endpoints,
    inspection_endpoints,
    memory_endpoints,
    rule_endpoints,
    store_endpoints,
)
from quire.server.endpoint import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    *context_endpoints.ENDPOINTS,
    *document_endpoints.ENDPOINTS,
    *store_endpoints.ENDPOINTS,
    *index_endpoints.ENDPOINTS,
    *block_endpoints.ENDPOINTS,
    *rule_endpoints.ENDPOINTS,
    *memory_endpoints.ENDPOINTS,
    *inspection_endpoints.ENDPOINTS,
)
