"""What helps most?"""
