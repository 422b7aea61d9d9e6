"""Does the prompt hook know when to be silent, and what helps otherwise?"""
