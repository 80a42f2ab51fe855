"""
Providers made of providers.

A layer takes providers and is one: it has a ``name``, ``search`` and ``read``, which work as far as what it holds can.
Composing is wrapping, so the order is what you see::

    Fallback((Retry(Tavily(...)), Retry(Brave(...))))
"""

from .fallback import Fallback
from .relax import Relax
from .retry import Retry

__all__ = ["Fallback", "Relax", "Retry"]
