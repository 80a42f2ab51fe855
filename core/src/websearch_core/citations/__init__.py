"""Citations that can be checked: links to sources, numbers that nobody issued, and what
a source says about a claim.

The tools number their sources, and a model cites them: ``High water is at noon [3].``
Nothing here needs a model or the network.
"""

from ._check import CitationCheck, Verdict, acheck_citations, check_citations
from ._links import (
    Source,
    link_citations,
    link_to_text,
    merge_sources,
    unknown_citations,
)

__all__ = [
    "CitationCheck", "Source", "Verdict", "acheck_citations", "check_citations",
    "link_citations", "link_to_text",
    "merge_sources", "unknown_citations",
]  # fmt: skip
