"""The words that some options take, in a module that is quick to import: the command line lists them."""

from __future__ import annotations

from typing import Literal

Format = Literal["text", "markdown", "json"]
SafeSearch = Literal["off", "moderate", "strict"]
TimeRange = Literal["day", "week", "month", "year"]
Topic = Literal["general", "news", "finance", "academic", "code"]
Extent = Literal["snippet", "passages", "page"]  # how much of each result a retriever returns
