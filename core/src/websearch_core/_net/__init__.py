"""The network: the only room that opens a socket or resolves a name."""
