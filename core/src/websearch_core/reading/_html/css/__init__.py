"""What style sheets and inline styles hide: a bounded reading of CSS."""
