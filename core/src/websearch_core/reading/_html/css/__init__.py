"""Find out which elements a browser would hide, from inline styles, with a bounded
reading of CSS.
"""
