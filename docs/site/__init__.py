"""The site: what is published, how its pages are written, and what is checked."""
