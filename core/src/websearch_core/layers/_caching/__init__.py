"""Where a cache keeps its entries, and what they look like there."""
