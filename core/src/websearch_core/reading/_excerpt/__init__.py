"""Excerpts of a page: the next window, the places around a phrase, the passages that
answer a question.
"""
