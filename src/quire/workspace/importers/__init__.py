"""Which blocks does a folder of pages hold?"""
