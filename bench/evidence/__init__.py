"""How much of the evidence does a context hold, for the tokens that it may use?"""
