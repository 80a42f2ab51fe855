"""API keys and credentials for pages, and how to pickle them.

A provider accepts a key as text, as a function that returns it, or as
``"keyring:service/name"``. It is read for each request, never shown, and left out of
pickles unless they are made inside `pickle_keys`.
"""

from ._keys import ApiKey, Credentials, pickle_keys

__all__ = ["ApiKey", "Credentials", "pickle_keys"]
