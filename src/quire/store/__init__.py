"""Where is it kept, and who may read it?"""
