"""Who asks?"""
