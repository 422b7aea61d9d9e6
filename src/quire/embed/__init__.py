"""What does this text mean?"""
