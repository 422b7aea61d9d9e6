"""Write Quire into an assistant's settings, and take it out again."""
