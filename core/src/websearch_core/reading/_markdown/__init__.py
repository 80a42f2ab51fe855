"""The kept part of a page -> Markdown, by a subclass of the converter of markdownify."""
