"""Connect Quire to coding assistants and tools."""
