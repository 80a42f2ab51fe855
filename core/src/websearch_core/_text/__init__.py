"""Characters, words and dates: what every room that handles text needs."""
