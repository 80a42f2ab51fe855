"""Kept part of a page -> Markdown, with a subclass of markdownify's converter."""
