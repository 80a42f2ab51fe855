"""Answers with the shapes of captured ones: compared with our cassettes, played, and
mutated.
"""
