"""Characters, words and dates: what every package that handles text needs."""
