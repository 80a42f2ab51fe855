"""A browser that cannot be turned inwards, for the reader ``browser``.

All it sends goes through a `websearch_core._net.gate`, which judges it. `host` keeps
one browser process for the whole Python process, `tab` opens one page in it, with a
gate and a context of its own, and `render` makes a response of it.
"""
