"""Do pages answer questions about real projects? `python -m bench.use --help`."""
