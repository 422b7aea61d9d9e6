"""What did we learn?"""
