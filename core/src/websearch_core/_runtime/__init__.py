"""What a call runs on: its context, its deadline, threads, turns, forks and SQLite."""
