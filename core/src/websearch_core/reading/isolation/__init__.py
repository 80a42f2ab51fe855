"""Reading in other processes."""
