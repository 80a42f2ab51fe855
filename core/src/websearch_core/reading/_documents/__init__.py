"""Formats other than HTML: PDF, Office, pictures, feeds, tables, text."""
