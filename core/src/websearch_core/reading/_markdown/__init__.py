"""Kept part of a page -> Markdown, with conversions like those of markdownify."""
