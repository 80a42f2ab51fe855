"""Read pages in separate processes."""
