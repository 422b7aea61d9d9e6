"""Who asks over the Model Context Protocol?"""
