"""How does Quire get into an assistant's settings, and out of them again?"""
