"""The report: one HTML file that shows why a context is what it is.

It needs no script, no network and no store. `markup` writes elements, and escapes whatever is put
into them; `page` lays out the picture that `pipeline.picture` draws.
"""

from quire.report.page import write_report

__all__ = ["write_report"]
