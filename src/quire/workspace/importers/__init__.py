"""Importers: folders of pages (Obsidian, Notion, Markdown) as trees of blocks."""
