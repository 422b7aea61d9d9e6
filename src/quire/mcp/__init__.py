"""The Model Context Protocol: a server for the store, and a proxy before other servers."""
