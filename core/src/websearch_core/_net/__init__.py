"""The network: the only package that opens sockets and resolves names."""
