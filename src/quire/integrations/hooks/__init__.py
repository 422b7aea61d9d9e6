"""How does an assistant get what it should know, at the moment when it should know it?"""
