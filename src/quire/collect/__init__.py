"""What could help?"""
