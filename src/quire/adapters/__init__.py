"""Quire inside the frameworks that people use, one module for each.

Each module imports its framework when it is imported, and nothing else does: `langchain`,
`llamaindex`, `haystack`, `pydantic_ai`, `dspy`, `openai_agents`. They translate and decide nothing:
what is found, who may read it and what fits is decided by the store that they are given.
"""
