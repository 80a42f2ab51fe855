"""A local search index: pages and folders in one SQLite file, searched without a key or
a network.

::

    index = Index(Path("notes.db"))
    index.add_folder(Path("docs"))
    index.search(SearchQuery(text="rotate a key")).hits[0].page.title

The provider ``local`` searches it and reads from it. `Index.add_pages` adds a web site
that is crawled.
"""

from ._store import Hit, Index, Report, SearchHits, SkippedFile

__all__ = ["Hit", "Index", "Report", "SearchHits", "SkippedFile"]
